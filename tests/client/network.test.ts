/**
 * The SDK on a bad network: every call ends in a correct result or a typed error. It never hangs, and never acts twice.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient, SvcError } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { type Fault, FlakyProxy } from "../support/flaky-proxy.ts";
import { fc } from "../support/properties.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);
let proxy: FlakyProxy;
let client: SvcClient<typeof api>;

beforeAll(async () => {
  proxy = await FlakyProxy.start(running.url);
});
afterAll(() => proxy.stop());
beforeEach(async () => {
  proxy.fault = () => ({ kind: "none" });
  const auth = createAuthClient(proxy.url, { sessionTokenStorage: "memory" });
  await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  client = createSvcClient({ api, baseUrl: proxy.url, auth });
});

/** Lets each connection meet the next fault of a list, then none. */
function meet(...faults: Fault[]): void {
  proxy.fault = () => faults.shift() ?? { kind: "none" };
}

const titled = (title: string) => db.sql("select id from notes where title = $1", [title]);

describe("a query", () => {
  test.each<[string, Fault]>([
    ["is refused", { kind: "refuse" }],
    ["is cut in the middle of the answer's head", { kind: "cut", after: 20 }],
    ["is cut in the middle of the answer's body", { kind: "cut", after: 400 }],
  ])("whose connection %s is sent again", async (_what, fault) => {
    meet(fault, fault);
    expect(await client.query(api.notes.list)).toEqual({ data: [], total: 0 });
  });

  test("is given up after its tries", async () => {
    meet(...Array.from({ length: 3 }, (): Fault => ({ kind: "refuse" })));
    await expect(client.query(api.notes.list)).rejects.toMatchObject({ code: "NETWORK_ERROR", status: 0 });
    meet({ kind: "refuse" });
    await expect(client.query(api.notes.list, {}, { retries: 0 })).rejects.toMatchObject({ code: "NETWORK_ERROR" });
  });

  test("that nobody answers ends with its time", async () => {
    meet({ kind: "swallow" });
    await expect(client.query(api.notes.list, {}, { timeoutMs: 200 })).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("waits for a slow network", async () => {
    meet({ kind: "delay", ms: 150 });
    expect(await client.query(api.notes.list)).toEqual({ data: [], total: 0 });
  });

  test("ends when it is aborted, with the reason it was given", async () => {
    meet({ kind: "swallow" });
    const controller = new AbortController();
    const call = client.query(api.notes.list, {}, { signal: controller.signal });
    const reason = new Error("no longer wanted");
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await expect(client.query(api.notes.list, {}, { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe("a mutation", () => {
  test.each<[string, Fault, number]>([
    ["never arrived", { kind: "refuse" }, 0],
    ["arrived, its answer cut", { kind: "cut", after: 60 }, 1],
  ])("that %s is an error, and not sent again", async (_what, fault, rows) => {
    const title = crypto.randomUUID();
    meet(fault);
    await expect(client.mutate(api.notes.create, { title })).rejects.toMatchObject({ code: "NETWORK_ERROR" });
    expect(await titled(title)).toHaveLength(rows);
  });

  test("on any network happens once when it says so, and at most once when it does not", async () => {
    const seen = new Set<string>();
    const fault = fc.oneof(
      fc.constant<Fault>({ kind: "none" }),
      fc.constant<Fault>({ kind: "refuse" }),
      fc.constant<Fault>({ kind: "swallow" }),
      fc.integer({ min: 1, max: 700 }).map((after): Fault => ({ kind: "cut", after })),
      fc.integer({ min: 1, max: 40 }).map((ms): Fault => ({ kind: "delay", ms })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { minLength: 1, maxLength: 6 }), async (faults) => {
        meet(...faults);
        const title = crypto.randomUUID();
        const result = await client.mutate(api.notes.create, { title }, { timeoutMs: 300 }).catch((error) => error);
        const rows = await titled(title);
        if (result instanceof SvcError) expect(rows.length).toBeLessThanOrEqual(1);
        else expect(rows).toEqual([{ id: result.id }]);
        seen.add(result instanceof SvcError ? `${result.code} ${rows.length}` : "result");
      }),
      { numRuns: 60 },
    );
    // All of these occurred; otherwise the network was too good to show anything.
    expect([...seen]).toEqual(expect.arrayContaining(["result", "NETWORK_ERROR 0", "NETWORK_ERROR 1", "TIMEOUT 1"]));
  });
});

describe("what answers, and is not the service", () => {
  test.each([
    [200, "<html>Sign in to the café's network</html>", "INVALID_ANSWER"],
    [200, '{"json":{"data":[', "INVALID_ANSWER"],
    [200, '{"something":"else"}', "INVALID_ANSWER"],
    [200, '{"json":1,"meta":[[1,"x"]]}', "INVALID_ANSWER"],
    [200, '{"json":{},"meta":[[3,"__proto__","polluted"]]}', "INVALID_ANSWER"],
    [404, "not found", "INVALID_ANSWER"],
    [400, '{"code":"TEAPOT","error":"","issues":[{"message":"no"},null,{"path":"a.b"},{"path":[{}]}]}', "TEAPOT"],
    [502, "<html>Bad Gateway</html>", "UNAVAILABLE"],
    [504, "", "UNAVAILABLE"],
  ])("%i %s is the error %s", async (status, body, code) => {
    const elsewhere = createSvcClient({ api, baseUrl: "", fetch: async () => new Response(body, { status }) });
    const error = await elsewhere.query(api.notes.list, {}, { retries: 0 }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SvcError);
    expect(error).toMatchObject({ code, status });
    expect({}).not.toHaveProperty("polluted");
  });

  test("the stack names what is wrong behind its message, whatever both are", () => {
    const issue = { path: ["list", 0], message: "x".repeat(10_000) };
    const { stack = "" } = new SvcError("TEAPOT", "r", { issues: [issue, { path: [], message: "$&" }] });
    expect(stack).toMatch(/^SvcError: r\n {2}list\.0: x{50,1000}\n {2}\$&\n {4}at /);
  });

  test("a busy service is asked again when it says", async () => {
    const answers = [
      new Response('{"error":"busy","code":"UNAVAILABLE","requestId":"1"}', {
        status: 503,
        headers: { "retry-after": "0" },
      }),
      new Response('{"json":{"data":[],"total":0}}'),
    ];
    const fetch = async () => answers.shift() as Response;
    const busy = createSvcClient({ api, baseUrl: "", fetch });
    expect(await busy.query(api.notes.list)).toEqual({ data: [], total: 0 });
  });
});
