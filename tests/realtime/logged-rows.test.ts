// If this file fails, scopeFromRow gets other rows than the application knows, and puts them into wrong buckets.
import { drizzle } from "drizzle-orm/node-postgres";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { defineApi } from "../../src/define/api.ts";
import { createCrudFactory } from "../../src/define/crud.ts";
import { ChangeReader } from "../../src/realtime/replication.ts";
import { transactionEvents } from "../../src/realtime/transaction-events.ts";
import { createLog } from "../../src/service/log.ts";
import { procedure } from "../fixture/backend/index.ts";
import { samples } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";

const db = database();
const rows: (typeof samples.$inferSelect)[] = [];
const told: string[] = [];
let lives = 0;
let losses = 0;
let fails = false;
let proxy: PostgresProxy;
let reader: ChangeReader;

beforeAll(async () => {
  const any = createCrudFactory(procedure)(samples, {
    prefix: "any",
    realtime: {
      policy: "public",
      resourceIdentity: "samples",
      scope: () => ({}),
      scopeFromRow({ row }) {
        rows.push(row);
        if (fails) throw new Error("a mistake in it");
        return {};
      },
    },
  });
  await db.sql(`alter database ${db.name} set timezone to 'Asia/Kathmandu'`);
  await db.sql(`alter database ${db.name} set datestyle to 'German'`);
  await db.sql("alter table samples replica identity full");
  await db.sql("set session_replication_role = replica"); // rows of users that do not exist
  proxy = await PostgresProxy.start(db.url("replication"));
  const log = createLog("silent");
  const sink = {
    deliver: ({ topics }: { topics: ReadonlySet<string> }) => void told.push(...topics),
    end: () => {},
    live: () => void lives++,
    lost: () => void losses++,
  };
  const listener = transactionEvents(defineApi({ procedures: { any } })["~svc"].crud, sink, log);
  reader = new ChangeReader({ url: proxy.url, listener, log, beatMs: 50 });
  reader.start();
  await vi.waitFor(() => expect(lives).toBe(1), { timeout: 20_000 });
});
afterAll(async () => {
  await reader.stop();
  await proxy.stop();
});
beforeEach(() => {
  rows.length = 0;
  told.length = 0;
});

const insert = (large = "x") =>
  db.sql<{ id: string }>(
    `insert into samples (user_id, an_integer, a_bigint, a_number, a_numeric, a_boolean, a_short_text, a_mood,
       a_timestamp, an_instant, a_date, a_json, some_bytes, some_tags, a_text)
     values ('ann', 7, 9007199254740993, 0.1, 1.5, true, 'short', 'it''s complicated', '2026-03-29 02:30:00.123',
       '2026-03-29 02:30:00.123+02', '2026-03-29', '{"a":[1,null]}', '\\xdead', '{"a b",NULL}', $1) returning id`,
    [large],
  );

test("has every type as Drizzle would give it, whatever the server's settings are", async () => {
  await insert();
  await expect.poll(() => rows.length).toBe(1);
  const client = await db.connect("admin");
  await client.query("set timezone to utc; set datestyle to iso");
  const expected = await drizzle({ client }).select().from(samples);
  expect(rows).toEqual(expected);
  expect(rows[0]?.aTimestamp).toEqual(new Date("2026-03-29T02:30:00.123Z"));
});

test("is given as it was and as it is, also the values that an update did not touch", async () => {
  const large = Array.from({ length: 2000 }, () => crypto.randomUUID()).join(""); // too large to lie in the row itself
  const [row] = await insert(large);
  await db.sql("update samples set an_integer = 8 where id = $1", [row?.id]);
  await db.sql("delete from samples where id = $1", [row?.id]);
  await expect.poll(() => rows.length).toBe(4);
  expect(rows.map(({ anInteger, aText }) => [anInteger, aText === large])).toEqual([
    [7, true],
    [7, true],
    [8, true],
    [8, true],
  ]);
});

test("when scopeFromRow fails, or the old row is not logged, all lists of the resource are told", async () => {
  fails = true;
  const [row] = await insert();
  await expect.poll(() => told).toContain("all:any");
  fails = false;
  told.length = 0;
  await db.sql("alter table samples replica identity default");
  await db.sql("update samples set an_integer = 8 where id = $1", [row?.id]);
  await expect.poll(() => told).toContain("all:any");
});

test("a server that has fallen silent is left, and the gap is told", async () => {
  const before = { lives, losses };
  proxy.mode = "falls silent";
  await expect.poll(() => losses, { timeout: 20_000 }).toBe(before.losses + 1);
  proxy.mode = "passes";
  proxy.breakAll();
  await expect.poll(() => lives, { timeout: 20_000 }).toBe(before.lives + 1);
  await insert();
  await expect.poll(() => told.length).toBeGreaterThan(0);
});
