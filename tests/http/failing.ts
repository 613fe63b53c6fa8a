/** Procedures and routes that fail in every way, for errors.test.ts. */
import { type } from "arktype";
import { createSvcHttpRouteBuilders, type ErrorCode, SvcError, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";

const httpRoute = createSvcHttpRouteBuilders();
/** A text that only the log may contain. */
export const hidden = "canary-5f1d";
export const detail = { hint: "Do this instead.", issues: [{ path: ["a", 0], message: "must be b" }], retryAfter: 7 };

class Upstream extends Error {
  status = 429;
  statusCode = 429;
  code = "23505";
}
/** Values that applications and their libraries throw. None of it is meant for the caller. */
export const thrown: Record<string, unknown> = {
  error: new Error(hidden, { cause: new Error(hidden) }),
  "an error with a status": new Upstream(hidden),
  "an object with a status": { status: 404, message: hidden, expose: false },
  string: hidden,
  "the string route": "route",
  "the string router": "router",
  null: null,
  undefined: undefined,
  "a frozen error": Object.freeze(new TypeError(hidden)),
  "a rejected response": new Response(hidden, { status: 400 }),
  "a circular error": Object.assign(new Error(hidden), { self: {} as unknown }),
  "its own cause": new Error(hidden),
  "a message that is no text": Object.assign(new Error(), { message: { hidden } }),
  "an object without a prototype": Object.assign(Object.create(null), { hidden }),
  "an object that refuses to be read": new Proxy(
    {},
    {
      get() {
        throw new Error(hidden);
      },
    },
  ),
  "an issue with a bigint": new SvcError("VALIDATION_FAILED", undefined, {
    issues: [{ path: ["n"], message: "too small", minimum: 5n } as never],
  }),
  "a hint that is no text": new SvcError("CONFLICT", undefined, { hint: 5n as never }),
  "a code that was changed": Object.assign(new SvcError("CONFLICT"), { code: "TEAPOT" }),
};
const circular = thrown["a circular error"] as { self: unknown };
circular.self = circular;
(thrown["its own cause"] as Error).cause = thrown["its own cause"];

const fail = procedure.mutation
  .name("fail.code")
  .allowAnonymous()
  .input(v.object({ code: v.string(), bare: v.boolean() }))
  .handler(({ input }): string => {
    if (input.bare) throw new SvcError(input.code as ErrorCode);
    throw new SvcError(input.code as ErrorCode, "A sentence.", { ...detail, cause: new Error(hidden) });
  });
export const procedures = {
  fail,
  throws: procedure.mutation
    .name("fail.throws")
    .allowAnonymous()
    .handler(({ input }): string => {
      throw thrown[String(input)];
    }),
  rejects: procedure.query
    .name("fail.rejects")
    .allowAnonymous()
    .use(async ({ next }) => next())
    .handler(async ({ input }): Promise<string> => {
      throw thrown[String(input)];
    }),
  output: procedure.query
    .name("fail.output")
    .allowAnonymous()
    .output(type({ n: "'a' | 'b'" }))
    .handler(() => ({ n: hidden }) as never),
  twice: procedure.query
    .name("fail.twice")
    .allowAnonymous()
    .use(async ({ next }) => [await next(), await next()])
    .handler(() => 1),
  writes: procedure.query
    .name("fail.writes")
    .allowAnonymous()
    .handler(({ context }) => context.db.insert(schema.guestbook).values({ message: hidden })),
  executes: procedure.query
    .name("fail.executes")
    .allowAnonymous()
    .handler(({ context }) => context.db.execute("select 1" as never)),
  requires: procedure.query
    .name("fail.requires")
    .allowAnonymous()
    .handler(({ context }) => context.auth.requireAuth().user.id),
  logs: procedure.query
    .name("fail.logs")
    .allowAnonymous()
    .handler(({ context }) => {
      context.log.info(
        { password: hidden, user: { token: hidden, sessionToken: hidden }, authorization: hidden },
        "logged",
      );
      return 1;
    }),
};
export const httpRoutes = {
  fail: httpRoute.post
    .path("/fail/code")
    .allowAnonymous()
    .handler(async (call) => ({ body: await fail["~svc"].procedure.run({ ...call, outcome: {} }) })),
  throws: httpRoute.post
    .path("/fail/throws")
    .allowAnonymous()
    .handler(({ input }) => {
      throw thrown[String(input)];
    }),
};
