// If this file fails, scopeFromRow gets rows with other values than the application knows, and returns wrong scopes.
import { drizzle } from "drizzle-orm/node-postgres";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { createCrudFactory } from "../../src/crud/crud.ts";
import { changeDecoder } from "../../src/realtime/change-decoder.ts";
import { ChangeReader } from "../../src/realtime/replication.ts";
import { transactionEvents } from "../../src/realtime/transaction-events.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { procedure } from "../fixture/backend/index.ts";
import { samples } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";

const db = database();
const rows: (typeof samples.$inferSelect)[] = [];
const told: string[] = [];
let fails = false;
/** Starts a reader that records `rows` and `told`. */
let read: (url: string, beatMs?: number) => { reader: ChangeReader; lives: () => number; losses: () => number };
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
  const log = createLog("silent");
  read = (url, beatMs) => {
    let [lives, losses] = [0, 0];
    const sink = {
      deliver: ({ topics }: { topics: ReadonlySet<string> }) => void told.push(...topics),
      hears: () => true,
      begun: () => {},
      broadcast: () => {},
      end: () => {},
      live: () => void lives++,
      lost: () => void losses++,
    };
    const listener = transactionEvents(defineApi({ procedures: { any } })["~svc"].crud, sink, log);
    const one = new ChangeReader({ url, to: changeDecoder(listener), log, ...(beatMs !== undefined && { beatMs }) });
    one.start();
    return { reader: one, lives: () => lives, losses: () => losses };
  };
  const started = read(db.url("replication"));
  reader = started.reader;
  await vi.waitUntil(() => started.lives() > 0, { timeout: 20_000 });
});
afterAll(() => reader.stop());
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
  await reader.stop();
  const proxy = await PostgresProxy.start(db.url("replication"));
  // So impatient that it may take a busy server for a silent one: it then reconnects, and writes continue until it
  // receives them.
  const { reader: impatient, lives, losses } = read(proxy.url, 100);
  await expect.poll(lives).toBeGreaterThan(0);
  const before = losses();
  proxy.mode = "falls silent";
  await expect.poll(losses).toBeGreaterThan(before);
  const gap = lives();
  proxy.mode = "passes";
  proxy.breakAll();
  await expect.poll(lives).toBeGreaterThan(gap);
  const heard = async () => {
    await insert();
    return told.length;
  };
  await expect.poll(heard).toBeGreaterThan(0);
  await impatient.stop();
  await proxy.stop();
});
