// If this file fails, callers do something more often than the application allows, or some are refused for what others did.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders } from "../../src/contract/http-route.ts";
import type { RateLimit } from "../../src/contract/rate-limit.ts";
import { createCrudFactory } from "../../src/crud/crud.ts";
import { SvcError } from "../../src/kit/svc-error.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, TestService, type User } from "../support/service.ts";
import { jobs, until, workers } from "../support/worker.ts";

let limit: RateLimit = { calls: 3, per: "10 minutes" };
let name = "letters.send";
const send = procedure.mutation
  .name("letters.send")
  .allowAnonymous()
  .handler(async ({ context }) => {
    await context.rateLimit(name, limit);
    return "sent";
  });
const fail = procedure.mutation.name("letters.fail").handler(async ({ context: { auth, db, rateLimit } }) => {
  await db.insert(notes).values({ title: "failed", userId: auth.requireAuth().user.id });
  await rateLimit(name, limit);
  throw new SvcError("CONFLICT", "Nothing is sent today.");
});
const read = procedure.query
  .name("letters.read")
  .allowAnonymous()
  .handler(async ({ context }) => {
    await context.rateLimit(name, limit);
    return "read";
  });
const polite = procedure.query.name("letters.polite").handler(async ({ context }) => {
  const refusal = await context.rateLimit(name, limit).catch((error: SvcError) => error);
  return { code: refusal?.code ?? null, seen: await context.db.$count(notes) };
});
const write = procedure.mutation
  .name("letters.write")
  .handler(({ context }) => context.scheduler.runAfter(0, "letters.post"));
const post = procedure.internal
  .name("letters.post")
  .runAs("system")
  .handler(({ context }) => context.rateLimit(name, limit));
const page = createSvcHttpRouteBuilders()
  .get.path("/api/letters")
  .allowAnonymous()
  .handler(async ({ context }) => {
    await context.rateLimit(name, limit);
    return { body: "page" };
  });
const limited = createCrudFactory(procedure)(notes, {
  hooks: {
    beforeCreate: async (row, { context }) => {
      await context.rateLimit(name, limit);
      return row;
    },
  },
});

const db = database();
const api = apiWith({ procedures: { send, fail, read, polite, write, post, notes: limited }, httpRoutes: { page } });
const config = { trustProxy: 1 } as const;
const svc = service(db, api, config);
const other = new TestService(db, api, config);
const worker = workers(db, api);
let ann: User;
let bob: User;
beforeAll(async () => {
  await other.start();
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
});
afterAll(() => other.stop());
beforeEach(async () => {
  limit = { calls: 3, per: "10 minutes" };
  name = "letters.send";
  await db.sql("truncate svc_private.call_counts");
  await db.sql("delete from notes");
});

const rows = () =>
  db.sql("select name, seconds, subject, count from svc_private.call_counts order by name, seconds, subject");
const many = (count: number, call: (n: number) => Promise<{ status: number }>) =>
  Promise.all(Array.from({ length: count }, async (_, n) => (await call(n)).status));
const from = (address: string, at = svc) =>
  at.fetch("/api/mutation", {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify({ name: "letters.send" }),
  });

describe("a limit of the application", () => {
  test("refuses further calls of a user with 429 and the seconds to wait, and nobody else's", async () => {
    expect(await many(3, () => svc.mutate(ann, "letters.send"))).toEqual([200, 200, 200]);
    const { status, body, headers } = await svc.mutate(ann, "letters.send");
    expect([status, body.code, body.error]).toEqual([429, "RATE_LIMITED", "Too many calls. Try again later."]);
    const seconds = Number(headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(500);
    expect(seconds).toBeLessThanOrEqual(600);
    expect((await svc.mutate(bob, "letters.send")).status).toBe(200);
    expect((await svc.mutate(null, "letters.send")).status).toBe(200);
    expect(svc.logged.filter((line) => line.includes('context.rateLimit(\\"letters.send\\")'))).toHaveLength(1);
  });

  test("lets as many of a hundred calls at once through, in two processes together", async () => {
    const bySession = { ...ann, token: ann.sessionToken }; // a JWT is for the origin of one service
    const statuses = await many(100, (n) => (n % 2 ? svc : other).mutate(bySession, "letters.send"));
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 429)).toHaveLength(97);
  });

  test("counts callers without a session by their network", async () => {
    for (const host of ["::1", ":1::2", ":ffff::3"]) expect((await from(`2001:db8:0:1${host}`)).status).toBe(200);
    expect((await from("2001:db8:0:1::9")).status).toBe(429);
    expect((await from("2001:db8:0:2::9")).status).toBe(200);
    expect((await from("192.0.2.1")).status).toBe(200);
    expect((await rows()).map(({ subject }) => subject)).toEqual([
      "address:192.0.2.1",
      "address:2001:db8:0:1::/64",
      "address:2001:db8:0:2::/64",
    ]);
  });

  test("counts what the author names instead, and stores only its hash", async () => {
    limit = { calls: 1, per: "1 hour", by: "cyd@example.com" };
    expect((await svc.mutate(ann, "letters.send")).status).toBe(200);
    expect((await svc.mutate(bob, "letters.send")).status).toBe(429);
    limit.by = "dan@example.com";
    expect((await svc.mutate(bob, "letters.send")).status).toBe(200);
    limit.by = ""; // what a handler read from an empty field is a name, too
    expect((await svc.mutate(ann, "letters.send")).status).toBe(200);
    expect((await svc.mutate(bob, "letters.send")).status).toBe(429);
    expect(JSON.stringify(await rows())).not.toContain("example");
  });

  test("counts a call that fails, and undoes what it wrote", async () => {
    expect(await many(3, () => svc.mutate(ann, "letters.fail"))).toEqual([409, 409, 409]);
    expect((await svc.mutate(ann, "letters.send")).status).toBe(429);
    expect(await db.sql("select from notes")).toEqual([]);
  });

  test("does not count a refused call: the window ends when it was to end", async () => {
    await many(3, () => svc.mutate(ann, "letters.send"));
    const before = await db.sql("select count, ends_at::text from svc_private.call_counts");
    expect(await many(5, () => svc.mutate(ann, "letters.send"))).toEqual([429, 429, 429, 429, 429]);
    expect(await db.sql("select count, ends_at::text from svc_private.call_counts")).toEqual(before);
    await db.sql("update svc_private.call_counts set ends_at = now() - interval '1 millisecond'");
    expect(await many(4, () => svc.mutate(ann, "letters.send"))).toEqual(expect.arrayContaining([200, 200, 200, 429]));
    expect(await rows()).toMatchObject([{ count: 3, seconds: 600 }]);
  });

  test("ends windows that are later than the clock, once that was set back", async () => {
    await many(3, () => svc.mutate(ann, "letters.send"));
    await db.sql("update svc_private.call_counts set ends_at = ends_at + interval '30 seconds'"); // others waited for the row
    expect((await svc.mutate(ann, "letters.send")).status).toBe(429);
    await db.sql("update svc_private.call_counts set ends_at = ends_at + interval '1 year'");
    expect(await many(4, () => svc.mutate(ann, "letters.send"))).toEqual(expect.arrayContaining([200, 200, 200, 429]));
  });

  test("is counted apart from one of the same name with another window", async () => {
    await many(3, () => svc.mutate(ann, "letters.send"));
    limit = { calls: 4, per: 86_400_000 };
    expect((await svc.mutate(ann, "letters.send")).status).toBe(200);
    expect(await rows()).toMatchObject([
      { seconds: 600, count: 3 },
      { seconds: 86_400, count: 1 },
    ]);
  });

  test("holds in queries, routes, and hooks of generated operations, whichever way these are called", async () => {
    limit.calls = 1;
    expect((await svc.query(null, "letters.read")).status).toBe(200);
    expect((await svc.fetch("/api/letters")).status).toBe(429);
    expect((await svc.mutate(ann, "notes.create", { title: "one" })).status).toBe(200);
    expect((await svc.mutate(ann, "notes.create", { title: "two" })).status).toBe(429);
    const call = { name: "notes.create", args: { title: "three" } };
    expect((await svc.post("/api/batch", { calls: [call] }, ann)).body).toMatchObject({
      code: "RATE_LIMITED",
      index: 0,
    });
    expect(await db.sql("select title from notes")).toEqual([{ title: "one" }]);
  });

  test("is an error that a handler may catch, and go on", async () => {
    limit.calls = 1;
    expect((await svc.query(ann, "letters.polite")).body.json).toEqual({ code: null, seen: 0 });
    expect((await svc.query(ann, "letters.polite")).body.json).toEqual({ code: "RATE_LIMITED", seen: 0 });
  });

  test("leaves no rows of windows that have ended", async () => {
    await db.sql(
      `insert into svc_private.call_counts select 'old', 60, 'user:' || n, 1, now() - interval '1 second' from generate_series(1, 6) n`,
    );
    limit.calls = 1_000_000;
    await until(async () => {
      expect((await svc.mutate(ann, "letters.send")).status).toBe(200);
      return (await rows()).every((row) => row.name !== "old");
    });
  });

  test("counts what a job of the system names, and refuses to guess a caller", async () => {
    await worker();
    limit = { calls: 5, per: "1 minute", by: "everybody" };
    await svc.mutate(ann, "letters.write");
    await until(async () => (await jobs(db)).length === 0);
    expect(await rows()).toMatchObject([{ count: 1, subject: expect.stringMatching(/^by:/) }]);
    delete limit.by;
    await svc.mutate(ann, "letters.write");
    await until(async () => (await jobs(db)).some(({ last_error }) => last_error !== null));
    expect((await jobs(db))[0]?.last_error).toMatch(/context\.rateLimit.*a job without a user has no caller/);
    await db.sql("delete from graphile_worker._private_jobs");
  });
});

test.for<[string, unknown, RegExp]>([
  ["", { calls: 1, per: "1 hour" }, /name.*must be a text of 1 to 128 characters/],
  ["x".repeat(129), { calls: 1, per: "1 hour" }, /name.*must be a text of 1 to 128 characters/],
  ["a", { calls: 0, per: "1 hour" }, /"a": calls: must be a whole number from 1 to 1000000/],
  ["a", { calls: 1.5, per: "1 hour" }, /"a": calls: must be a whole number/],
  ["a", { calls: 1, per: "an hour" }, /"a": per: "an hour" is not a duration/],
  ["a", { calls: 1, per: 10 }, /"a": per: must be from 1 second to 31 days/],
  ["a", { calls: 1, per: "32 days" }, /"a": per: must be from 1 second to 31 days/],
  ["a", { calls: 1 }, /"a": per: undefined is not a duration/],
  ["a", { calls: 1, per: "1 hour", by: 7 }, /"a": by: must be a text, got a number/],
  ["a", { calls: 1, every: "1 hour", per: "1 hour" }, /"every" is not a known key. Did you mean "per"/],
  ["a", undefined, /"a": must be an object/],
])("a wrong limit is the author's error, and counts nothing: %s %j", async ([wrong, options, message]) => {
  [name, limit] = [wrong, options as RateLimit];
  const { status, body } = await svc.mutate(ann, "letters.send");
  expect([status, body.code]).toEqual([500, "INTERNAL"]);
  expect(body.hint).toMatch(message);
  expect(await rows()).toEqual([]);
});

test("a caller finds out nothing of the limit but when to come again", async () => {
  limit.calls = 1;
  await svc.mutate(ann, "letters.send");
  const response = await fetch(`${svc.url}/api/mutation`, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(ann) },
    body: JSON.stringify({ name: "letters.send" }),
  });
  expect(Object.keys(JSON.parse(await response.text())).sort()).toEqual(["code", "error", "requestId"]);
});
