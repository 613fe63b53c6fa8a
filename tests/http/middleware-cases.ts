/** The procedures and routes for middleware.test.ts: each case with both builders. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type } from "arktype";
import * as valibot from "valibot";
import { z } from "zod";
import { createSvcHttpRouteBuilders, type HttpRoute, type Middleware, type Procedure, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";

/** The common part of the builders of procedures and routes; each case below is defined with both. */
interface Chain {
  use(middleware: Middleware): Chain;
  input(schema: StandardSchemaV1): Chain;
  output(schema: StandardSchemaV1): Chain;
  handler(handler: (call: Parameters<Middleware>[0]) => unknown): unknown;
}

/** A result in the builder's form: a procedure's value, or a route's `{ body }`. */
type Wrap = (value: unknown) => unknown;
/** The value in the result of `next()`. */
type Unwrap = (result: unknown) => unknown;

/** The steps of the last call. */
export const trace: unknown[] = [];

const step =
  (name: string): Middleware =>
  async ({ next }) => {
    trace.push(`${name} before`);
    const result = await next();
    trace.push(`${name} after`);
    return result;
  };
const seen: Middleware = ({ input, next }) => {
  trace.push(input);
  return next();
};
const echo =
  (wrap: Wrap) =>
  ({ input }: { input: unknown }) => {
    trace.push("handler");
    return wrap(input);
  };
const digits = z.object({ n: z.string().regex(/^\d+$/).transform(Number) });

const cases = {
  onion: (c, wrap) => c.use(step("first")).use(step("second")).use(step("third")).handler(echo(wrap)),
  plain: (c, wrap) => c.handler(echo(wrap)),
  inputs: (c, wrap) =>
    c
      .use(({ input, next }) => next({ input: [input, 1] }))
      .use(({ next }) => next())
      .use(({ next }) => next({}))
      .use(({ input, next }) => next({ input: [input, 2] }))
      .handler(echo(wrap)),
  nothing: (c, wrap) =>
    c.use(({ next }) => next({ input: undefined })).handler(({ input }) => wrap(input === undefined)),
  contexts: (c, wrap) =>
    c
      .use(async ({ context, next }) => {
        const result = await next({ context: { tenant: "acme", requestId: "replaced" } as object });
        trace.push("tenant" in context, context.requestId === "replaced");
        return result;
      })
      .use(({ next }) => next({ context: { plan: "pro" } as object }))
      .handler(async ({ context }) => {
        const { tenant, plan, requestId } = context as typeof context & Record<string, unknown>;
        const rows = await context.db.select().from(schema.guestbook).limit(0); // other members still work
        return wrap({ tenant, plan, requestId, rows, user: context.auth.getSession() });
      }),
  short: (c, wrap) =>
    c
      .use(step("outer"))
      .use(() => wrap("instead"))
      .use(step("inner"))
      .handler(echo(wrap)),
  position: (c, wrap) => c.use(seen).input(digits).use(seen).handler(echo(wrap)),
  rewritten: (c, wrap) =>
    c
      .use(({ next }) => next({ input: { n: "7" } }))
      .input(digits)
      .handler(echo(wrap)),
  refused: (c, wrap) =>
    c
      .use(async ({ next }) => {
        const result = await next();
        trace.push(result);
        return result;
      })
      .input(digits)
      .use(step("later"))
      .handler(echo(wrap)),
  replaced: (c, wrap) =>
    c
      .use(async ({ next }) => {
        await next();
        return wrap("all is well");
      })
      .input(digits)
      .handler(echo(wrap)),
  thrown: (c, wrap) =>
    c
      .use(async ({ next }) => {
        await next();
        throw new Error("another outcome");
      })
      .input(digits)
      .handler(echo(wrap)),
  twice: (c, wrap) =>
    c
      .use(async ({ next }) => {
        await next();
        return next();
      })
      .handler(async ({ context }) => {
        trace.push("handler");
        await context.db.insert(schema.guestbook).values({ message: "twice" });
        return wrap(1);
      }),
  around: (c, wrap, unwrap) => c.use(async ({ next }) => wrap([unwrap(await next())])).handler(echo(wrap)),
  caught: (c, wrap) =>
    c
      .use(({ next }) => next().catch((error: Error) => wrap(`caught ${error.message}`)))
      .handler(() => {
        throw new Error("it");
      }),
  brokenLate: (c, wrap) =>
    c
      .use(async ({ next }) => {
        await next();
        throw new Error("after the handler");
      })
      .handler(async ({ context }) => {
        await context.db.insert(schema.guestbook).values({ message: "broken late" });
        return wrap(1);
      }),
  spoiled: (c, wrap) =>
    c
      .output(z.object({ n: z.number() }))
      .use(async ({ next }) => {
        await next();
        return wrap({ n: "no number" });
      })
      .handler(async ({ context }) => {
        await context.db.insert(schema.guestbook).values({ message: "spoiled" });
        return wrap({ n: 1 });
      }),
  repaired: (c, wrap) =>
    c
      .output(z.object({ n: z.number() }))
      .use(async ({ next }) => {
        await next();
        return wrap({ n: 2, secret: "stripped by the schema" });
      })
      .handler(() => wrap({ n: "no number" })),
  asyncOutput: (c, wrap) => c.output(z.string().refine(async (text) => text === "good")).handler(echo(wrap)),
  brokenSchema: (c, wrap) =>
    c
      .input({
        "~standard": {
          version: 1,
          vendor: "x",
          validate: () => {
            throw new Error("canary-schema");
          },
        },
      })
      .handler(echo(wrap)),
} satisfies Record<string, (chain: Chain, wrap: Wrap, unwrap: Unwrap) => unknown>;

// Schemas of several vendors. Each takes digits and returns a number.
export const vendors: Record<string, StandardSchemaV1> = {
  zod: digits,
  "zod, async": z.object({
    n: z
      .string()
      .refine(async (n) => /^\d+$/.test(n))
      .transform(Number),
  }),
  valibot: valibot.object({ n: valibot.pipe(valibot.string(), valibot.digits(), valibot.transform(Number)) }),
  "valibot, async": valibot.objectAsync({
    n: valibot.pipeAsync(
      valibot.string(),
      valibot.checkAsync(async (n) => /^\d+$/.test(n)),
      valibot.transform(Number),
    ),
  }),
  arktype: type({ n: "string.integer.parse" }),
  "v with members of zod": v.object({ n: z.string().regex(/^\d+$/).transform(Number) }),
};
const all: Record<string, (chain: Chain, wrap: Wrap, unwrap: Unwrap) => unknown> = { ...cases };
for (const [index, vendor] of Object.values(vendors).entries()) {
  all[`vendor${index}`] = (c, wrap) => c.use(step("outer")).input(vendor).handler(echo(wrap));
}

const httpRoute = createSvcHttpRouteBuilders();
const define = <T>(build: (key: string, make: (typeof all)[string]) => unknown) =>
  Object.fromEntries(Object.entries(all).map(([key, make]) => [key, build(key, make)])) as Record<string, T>;
const same = (value: unknown) => value;
export const procedures = define<Procedure>((key, make) =>
  make(procedure.mutation.name(`case.${key}`).allowAnonymous() as unknown as Chain, same, same),
);
export const httpRoutes = define<HttpRoute>((key, make) =>
  make(
    httpRoute.post.path(`/case/${key}`).allowAnonymous() as unknown as Chain,
    (body) => ({ body }),
    (result) => (result as { body: unknown }).body,
  ),
);
export const statuses = [200, 399, 400, 404, 500];
for (const status of statuses) {
  httpRoutes[`status${status}`] = httpRoute.get
    .path(`/status/${status}`)
    .allowAnonymous()
    .output(z.object({ n: z.number() }))
    .handler(() => ({ status, body: { n: "no number" } }) as never);
}
httpRoutes.headers = httpRoute.get
  .path("/headers")
  .allowAnonymous()
  .use(async ({ request, next }) => {
    const result = (await next()) as { status: number; headers: Record<string, string>; body: unknown };
    result.headers["x-seen"] = `${request?.method} ${result.status}`;
    return result;
  })
  .use(({ next }) => next())
  .handler(() => ({ body: "text" }));
