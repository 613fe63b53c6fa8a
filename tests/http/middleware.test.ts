// If this file fails, an author's middleware runs in another order than declared, or a refused input reaches a handler.
import { beforeEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { type Answer, apiWith, service } from "../support/service.ts";
import { httpRoutes, procedures, statuses, trace, vendors } from "./middleware-cases.ts";

const db = database();
const svc = service(db, apiWith({ procedures, httpRoutes }));
beforeEach(() => {
  trace.length = 0;
});

type Way = "procedure" | "route";
/** Calls a case and returns the value of a 200. */
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
      trace.length = 0;
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
