/**
 * If this file fails, one caller's slow calls take every connection of the process, and other callers get no answer. A
 * locked table simulates slow statements: calls are counted while they wait, and continue when the test releases them.
 */
import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { Shares } from "../../src/postgres/acquire.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type TestService, type User } from "../support/service.ts";

const db = database();
const httpRoute = createSvcHttpRouteBuilders<typeof schema>();
const { articles, guestbook } = schema;
const api = apiWith({
  procedures: {
    slow: procedure.query
      .name("shares.slow")
      .allowAnonymous()
      .handler(({ context }) => context.db.select({ id: articles.id }).from(articles).limit(1)),
    quick: procedure.query
      .name("shares.quick")
      .allowAnonymous()
      .handler(({ context }) => context.db.select({ id: guestbook.id }).from(guestbook).limit(1)),
    timeout: procedure.query
      .name("shares.timeout")
      .allowAnonymous()
      .handler(async ({ context }) => {
        const [row] = await context.db
          .select({ it: sql<string>`current_setting('statement_timeout')` })
          .from(sql`(select 1) as one`);
        return row?.it;
      }),
  },
  httpRoutes: {
    slow: httpRoute.get
      .path("/api/slow")
      .allowAnonymous()
      .handler(async ({ context }) => ({ body: await context.db.select({ id: articles.id }).from(articles).limit(1) })),
  },
});
const patient = { generatedTimeoutMs: 60_000, statementTimeoutMs: 60_000 };
const sizes = { maxDepth: 12, maxFields: 400, maxAliases: 30, maxCost: 5000 };
const graphql = { enabled: true, introspection: false, ruru: false, ...sizes, statementTimeoutMs: 60_000 };
const options = { trustProxy: 1, pool: { request: 6, waitMs: 30_000 }, limits: patient };
const svc = service(db, api, { ...options, graphql } as object);
const hasty = service(db, api, { pool: { request: 2, waitMs: 1_500 }, limits: { generatedTimeoutMs: 200 } } as object);

/** Statements that hold a connection and wait for the lock. */
async function holding(): Promise<number> {
  const rows = await db.sql(
    `select from pg_stat_activity
      where datname = $1 and application_name = 'svc request' and wait_event_type = 'Lock'`,
    [db.name],
  );
  return rows.length;
}

/** Runs `work` while articles and posts are locked for reading. */
async function whileLocked(work: () => Promise<unknown>): Promise<void> {
  const locker = await db.connect("admin");
  await locker.query("begin; lock table articles, posts in access exclusive mode");
  try {
    await work();
  } finally {
    await locker.query("rollback");
  }
}

type Door = (on: TestService, address: string, user: User | null) => ReturnType<TestService["fetch"]>;
const sent = (address: string, user: User | null) => ({
  "content-type": "application/json",
  "x-forwarded-for": address,
  ...bearer(user),
});
const post =
  (path: string, body: object): Door =>
  (on, address, user) =>
    on.fetch(path, { method: "POST", headers: sent(address, user), body: JSON.stringify(body) });

const quick = post("/api/query", { name: "shares.quick" });
const doors: [string, Door][] = [
  ["a handler", post("/api/query", { name: "shares.slow" })],
  ["a procedure by its path", post("/api/query/shares.slow", {})],
  ["a generated list", post("/api/query", { name: "articles.list" })],
  ["a generated list with filters", post("/api/query", { name: "articles.list", args: { filters: { title: "x" } } })],
  ["a generated write", post("/api/mutation", { name: "articles.create", args: { title: "x" } })],
  ["a route", (on, address, user) => on.fetch("/api/slow", { headers: sent(address, user) })],
  ["GraphQL", post("/api/graphql", { query: "{ posts(first: 1) { nodes { id } } }" })],
];

describe.each(doors)("%s", (_name, door) => {
  test("leaves half of the connections to others, however many of its calls are slow", async () => {
    const ann = await svc.signUp("ann");
    expect((await door(svc, "192.0.2.1", ann)).status).toBe(200); // GraphQL reads the catalog before its first answer
    // One user from many addresses, then one anonymous address: each is one caller.
    for (const caller of [(call: number) => door(svc, `192.0.2.${call}`, ann), () => door(svc, "198.51.100.1", null)]) {
      const calls: ReturnType<typeof caller>[] = [];
      await whileLocked(async () => {
        for (let call = 0; call < 12; call++) calls.push(caller(call));
        await expect.poll(holding).toBe(3);
        // Another user, and another address, are answered meanwhile, even if only one connection is left.
        expect((await quick(svc, "203.0.113.9", null)).status).toBe(200);
        expect((await quick(svc, "192.0.2.1", await svc.signUp("bob"))).status).toBe(200);
        expect(await holding()).toBe(3);
      });
      const statuses = new Set((await Promise.all(calls)).map(({ status }) => status));
      expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    }
  });
});

test("who waits too long is told to come back, and what to do", async () => {
  await whileLocked(async () => {
    const first = hasty.query(null, "shares.slow");
    await expect.poll(holding).toBe(1);
    const { status, body, headers } = await hasty.query(null, "shares.quick");
    expect([status, body.code, body.error, headers.get("retry-after")]).toEqual([
      503,
      "UNAVAILABLE",
      "Too many of your calls are under way.",
      "1",
    ]);
    expect(body.hint).toContain("Send fewer calls at once");
    void first;
  });
  expect((await hasty.query(null, "shares.quick")).status).toBe(200);
});

test("a generated list that takes too long is ended, and says what to do; a handler has the time of other statements", async () => {
  await whileLocked(async () => {
    const { status, body } = await hasty.query(null, "articles.list", {
      filters: { title: { op: "ilike", value: "%x%" } },
    });
    expect([status, body.code]).toEqual([504, "TIMEOUT"]);
    expect(body.hint).toContain("limits.generatedTimeoutMs");
  });
  expect((await hasty.query(null, "shares.timeout")).body.json).toBe("15s");
});

test("a share is given on in order, taken back when the wait ends, and forgotten when nobody holds any", async () => {
  const shares = new Shares(1, 50);
  expect(shares.take("a")).toBeUndefined();
  const order: number[] = [];
  const second = shares.take("a")?.then(() => order.push(2));
  const third = shares.take("a")?.then(() => order.push(3));
  expect(shares.take("b")).toBeUndefined();
  shares.giveBack("a");
  await second;
  shares.giveBack("a");
  await third;
  expect(order).toEqual([2, 3]);
  await expect(shares.take("a")).rejects.toMatchObject({ code: "UNAVAILABLE", retryAfter: 1 });
  shares.giveBack("a");
  shares.giveBack("b");
  expect(shares.size).toBe(0);
});

test("of one caller a hundred calls wait at most", async () => {
  const shares = new Shares(1, 30_000);
  shares.take("a");
  const waiting = Array.from({ length: 100 }, () => shares.take("a"));
  expect(() => shares.take("a")).toThrow("Too many of your calls");
  for (let call = 0; call < 101; call++) shares.giveBack("a");
  await Promise.all(waiting);
  expect(shares.size).toBe(0);
});
