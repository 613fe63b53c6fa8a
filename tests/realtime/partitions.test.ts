// If this file fails, a page keeps a row that was deleted or given away in a partition that a cron has made.
import { integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, memberRls, ownerRls } from "../../src/index.ts";
import { changeDecoder } from "../../src/realtime/change-decoder.ts";
import { ChangeReader } from "../../src/realtime/replication.ts";
import { transactionEvents } from "../../src/realtime/transaction-events.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";

const id = () => uuid("id").primaryKey().defaultRandom();
const readings = pgTable(
  "readings",
  { id: id(), userId: text("user_id").notNull(), at: integer("at").notNull(), body: text("body") },
  (t) => ownerRls(t.userId),
);
const members = pgTable("members", { id: id(), team: text("team").notNull(), userId: text("user_id").notNull() }, (t) =>
  ownerRls(t.userId, { write: "nobody" }),
);
const meters = pgTable("meters", { id: id(), team: text("team").notNull(), at: integer("at").notNull() }, (t) =>
  memberRls({ through: members, team: t.team, user: members.userId }),
);
const schema = { readings, members, meters };
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);
const api = defineApi({ procedures: { readings: createCrud(readings) } });

const db = database();
/** Topics of each transaction. */
const told: string[][] = [];
let reader: ChangeReader;

beforeAll(async () => {
  const followed = followedTables(api, schema);
  const identities = followed.map(({ schema, name, identity }) => ({ table: `${schema}.${name}`, identity }));
  await db.sql(`
    create table readings (id uuid default gen_random_uuid(), user_id text not null, at int, body text, primary key (id, at))
      partition by range (at);
    create table readings_1 partition of readings for values from (0) to (10);
    create table members (id uuid primary key default gen_random_uuid(), team text not null, user_id text not null);
    create table meters (id uuid default gen_random_uuid(), team text not null, at int, primary key (id, at)) partition by range (at);
    create table meters_1 partition of meters for values from (0) to (10)`);
  await db.sql("select svc_private.publish_tables($1)", [JSON.stringify(identities)]);
  await db.sql(`create table readings_2 partition of readings for values from (10) to (20);
    create table meters_2 partition of meters for values from (10) to (20)`);
  const log = createLog("silent");
  let isLive = false;
  const sink = {
    deliver: ({ topics }: { topics: ReadonlySet<string> }) => void told.push([...topics]),
    hears: () => true,
    begun: () => {},
    broadcast: () => {},
    end: () => {},
    live: () => {
      isLive = true;
    },
    lost: () => {},
  };
  const to = changeDecoder(transactionEvents(api["~svc"].crud, sink, log, followed));
  reader = new ChangeReader({ url: db.url("replication"), to, log });
  reader.start();
  await vi.waitUntil(() => isLive, { timeout: 20_000 });
});
afterAll(() => reader.stop());

async function topicsOf(change: string): Promise<string[]> {
  const before = told.length;
  await db.sql(change);
  await expect.poll(() => told.length).toBe(before + 1);
  return told[before] ?? [];
}

test.for([
  [1, ["list:readings:ann", "list:readings:bob"], false],
  [11, ["all:readings"], true],
] as const)("a row of a user at %i", async ([at, expected, isForAll]) => {
  await topicsOf(`insert into readings (user_id, at) values ('ann', ${at})`);
  for (const change of ["update readings set user_id = 'bob'", "delete from readings"]) {
    const topics = await topicsOf(change);
    const some = change.startsWith("delete") ? expected.slice(-1) : expected;
    expect(topics).toEqual(expect.arrayContaining([...some]));
    expect(topics.includes("all:readings"), change).toBe(isForAll);
    expect(topics.includes("many:public.readings"), change).toBe(isForAll);
    expect(topics, change).toContain("rows:public.readings"); // of those who follow the whole table
  }
});

test.for([
  [1, false],
  [11, true],
] as const)("a row of a team at %i", async ([at, isForAll]) => {
  await topicsOf(`insert into meters (team, at) values ('red', ${at})`);
  for (const change of ["update meters set team = 'blue'", "delete from meters"]) {
    const topics = await topicsOf(change);
    expect(topics.includes("many:public.meters"), change).toBe(isForAll);
    if (!isForAll && change.startsWith("update")) expect(topics).toContain("team:public.meters:red");
  }
});
