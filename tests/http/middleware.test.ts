// If this file fails, an author's middleware runs in another order than declared, or an input that was refused gets in.
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type } from "arktype";
import * as valibot from "valibot";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createSvcHttpRouteBuilders, type HttpRoute, type Middleware, type Procedure, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { type Answer, apiWith, service } from "../support/service.ts";

/** What the builders of procedures and routes have in common; each case below is defined with both. */
interface Chain {
  use(middleware: Middleware): Chain;
  input(schema: StandardSchemaV1): Chain;
  output(schema: StandardSchemaV1): Chain;
  handler(handler: (call: Parameters<Middleware>[0]) => unknown): unknown;
}

/** A result as the way has it: a procedure's value, or a route's `{ body }`. */
type Wrap = (value: unknown) => unknown;
/** The value in a result that `next()` gave. */
type Unwrap = (result: unknown) => unknown;

let trace: unknown[] = [];
beforeEach(() => {
  trace = [];
});

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
        const rows = await context.db.select().from(schema.guestbook).limit(0); // what was not replaced still works
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

// The vendors of schemas. Each takes digits and hands on a number.
const vendors: Record<string, StandardSchemaV1> = {
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
const procedures = define<Procedure>((key, make) =>
  make(procedure.mutation.name(`case.${key}`).allowAnonymous() as unknown as Chain, same, same),
);
const httpRoutes = define<HttpRoute>((key, make) =>
  make(
    httpRoute.post.path(`/case/${key}`).allowAnonymous() as unknown as Chain,
    (body) => ({ body }),
    (result) => (result as { body: unknown }).body,
  ),
);
const statuses = [200, 399, 400, 404, 500];
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

const db = database();
const svc = service(db, apiWith({ procedures, httpRoutes }));

type Way = "procedure" | "route";
/** Calls a case and gives the value of a 200. */
async function call(way: Way, key: string, input?: unknown): Promise<Answer & { value: unknown }> {
  const answer = await (way === "procedure" ? svc.mutate(null, `case.${key}`, input) : svc.post(`/case/${key}`, input));
  return { ...answer, value: way === "procedure" ? answer.body.json : answer.body };
}
const messages = async () => (await db.sql("select message from guestbook")).map(({ message }) => message);

describe.for<Way>(["procedure", "route"])("middleware of a %s", (way) => {
  test("runs in declared order, outermost first, and comes back in reverse", async () => {
    expect(await call(way, "onion", { a: 1 })).toMatchObject({ status: 200, value: { a: 1 } });
    expect(trace).toEqual([
      "first before",
      "second before",
      "third before",
      "handler",
      "third after",
      "second after",
      "first after",
    ]);
  });

  test("without .input(), the handler gets what the caller sent", async () => {
    const sent = { a: [1, "two", null] };
    expect(await call(way, "plain", sent)).toMatchObject({ status: 200, value: sent });
  });

  test("next({ input }) changes what the inner steps see; next() and next({}) change nothing", async () => {
    expect((await call(way, "inputs", "x")).value).toEqual([["x", 1], 2]);
    expect((await call(way, "nothing", "x")).value).toBe(true);
  });

  test("next({ context }) adds to and replaces parts for the inner steps alone", async () => {
    const { value } = await call(way, "contexts");
    expect(value).toEqual({ tenant: "acme", plan: "pro", requestId: "replaced", rows: [], user: null });
    expect(trace).toEqual([false, false]);
  });

  test("without next() nothing inside runs, and its own result is the answer", async () => {
    expect(await call(way, "short")).toMatchObject({ status: 200, value: "instead" });
    expect(trace).toEqual(["outer before", "outer after"]);
  });

  test("its after half may replace the result, and catch what the handler threw", async () => {
    expect(await call(way, "around", 1)).toMatchObject({ status: 200, value: [1] });
    expect(await call(way, "caught")).toMatchObject({ status: 200, value: "caught it" });
  });

  test("what it throws after the handler undoes what the handler wrote", async () => {
    expect((await call(way, "brokenLate")).status).toBe(500);
    expect(await messages()).not.toContain("broken late");
  });

  test("calling next() twice is a 500; the handler ran once and nothing is kept", async () => {
    expect(await call(way, "twice")).toMatchObject({ status: 500, body: { code: "MIDDLEWARE_REENTERED" } });
    expect(trace).toEqual(["handler"]);
    expect(await messages()).not.toContain("twice");
  });
});

describe.for<Way>(["procedure", "route"])(".input() of a %s", (way) => {
  test("middleware before it sees the raw input, middleware after it the parsed one", async () => {
    expect((await call(way, "position", { n: "5", unknown: true })).value).toEqual({ n: 5 });
    expect(trace).toEqual([{ n: "5", unknown: true }, { n: 5 }, "handler"]);
  });

  test("validates what an earlier middleware made of the input", async () => {
    expect((await call(way, "rewritten", { n: "not digits" })).value).toEqual({ n: 7 });
  });

  test("a failure is seen by earlier middleware as the result of next(); nothing later runs", async () => {
    const { status, body } = await call(way, "refused", { n: "x" });
    expect({ status, ...body }).toMatchObject({ status: 400, code: "VALIDATION_FAILED", issues: [{ path: ["n"] }] });
    const { error, code, issues } = body;
    expect(trace).toEqual([{ status: 400, headers: {}, body: { error, code, issues } }]);
  });

  test.for(["replaced", "thrown"])("an earlier middleware cannot change that outcome: %s", async (key) => {
    const { status, body } = await call(way, key, { n: "x" });
    expect({ status, ...body }).toMatchObject({ status: 400, code: "VALIDATION_FAILED", issues: [{ path: ["n"] }] });
    expect(trace).toEqual([]);
  });

  test.for(Object.keys(vendors).map((name, index) => ({ name, key: `vendor${index}` })))(
    "takes schemas of $name",
    async ({ key }) => {
      expect(await call(way, key, { n: "12" })).toMatchObject({ status: 200, value: { n: 12 } });
      trace = [];
      const { status, body } = await call(way, key, { n: "1x" });
      expect({ status, code: body.code, paths: body.issues?.map((issue: { path: unknown }) => issue.path) }).toEqual({
        status: 400,
        code: "VALIDATION_FAILED",
        paths: [["n"]],
      });
      expect(trace).toEqual(["outer before", "outer after"]);
    },
  );

  test("a schema that throws is our fault, not the caller's", async () => {
    const { status, body } = await call(way, "brokenSchema", {});
    expect({ status, code: body.code }).toEqual({ status: 500, code: "INTERNAL" });
    expect(JSON.stringify(body)).not.toContain("canary");
  });
});

describe.for<Way>(["procedure", "route"])(".output() of a %s", (way) => {
  test("is checked after the whole chain, and a failure undoes the call", async () => {
    expect(await call(way, "spoiled")).toMatchObject({ status: 500, body: { code: "OUTPUT_INVALID" } });
    expect(await messages()).not.toContain("spoiled");
  });

  test("lets a middleware repair a result, and hands on what the schema made of it", async () => {
    expect(await call(way, "repaired")).toMatchObject({ status: 200, value: { n: 2 } });
    expect((await call(way, "repaired")).value).not.toHaveProperty("secret");
  });

  test("waits for asynchronous schemas", async () => {
    expect(await call(way, "asyncOutput", "good")).toMatchObject({ status: 200, value: "good" });
    expect(await call(way, "asyncOutput", "bad")).toMatchObject({ status: 500, body: { code: "OUTPUT_INVALID" } });
  });
});

test.for(statuses)("a route's body with status %i is checked by .output() below 400 only", async (status) => {
  const answer = await svc.fetch(`/status/${status}`);
  expect(answer).toMatchObject(status < 400 ? { status: 500 } : { status, body: { n: "no number" } });
});

test("middleware of a route sees the request, and a whole result where the handler gave a part of it", async () => {
  const { status, body, headers } = await svc.fetch("/headers");
  expect({ status, body, seen: headers.get("x-seen") }).toEqual({ status: 200, body: "text", seen: "GET 200" });
});
