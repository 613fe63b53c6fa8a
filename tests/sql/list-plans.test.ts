// If this file fails, the first page of a large table, which every visitor requests, reads and sorts the table: a third
// of a second instead of a fifth of a millisecond.
import { boolean, integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { listShape } from "../../src/crud/read-shape.ts";
import { createCrudFactory, defineApi, openRls } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";

const rows = 1_000_000;
/** Each has so many rows that another index, or none, looks cheaper than reading a tenth of them in order. */
const owners = 5;

const columns = () => ({
  id: integer("id").primaryKey(),
  userId: text("user_id").notNull(),
  done: boolean("done").notNull().default(false),
  createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
});
// The policies are written by hand below: first everybody reads the table, and later only the owners of its rows do.
const news = pgTable("news", columns(), () => openRls({ read: "anyone", write: "anyone" }));
const createCrud = createCrudFactory(procedure);
const api = defineApi({
  procedures: {
    news: createCrud(news, { count: "none", allowedFilters: ["done"], maxLimit: 10_000, methods: ["list"] }),
    own: createCrud(news, { prefix: "own", count: "none", allowedFilters: ["done"], methods: ["list"] }),
  },
});

const db = database();
let client: pg.Client;
let notices: string[] = [];
let plansAreTold = true;
/** Rows before the page, of the user's 200,000. */
const depths = [20, 100_000, 199_900];
/** A row of the user at each depth. */
let places: { at: string; id: number }[] = [];

beforeAll(async () => {
  await db.sql(`
    create unlogged table news (
      id integer primary key, user_id text not null, done boolean not null, created_at timestamptz not null);
    alter table news enable row level security;
    grant select on news to svc_authenticated;
    create policy read_all on news for select to svc_authenticated using (true)`);
  // The order of time differs from the order on disk.
  await db.sql(
    `insert into news select n, 'user ' || n % $1::integer, n % 7 = 0,
           '2026-01-01'::timestamptz + (n::bigint * 7919 % 1000003) * interval '1 second'
      from generate_series(1, $2::integer) n`,
    [owners, rows],
  );
  await db.sql("create index news_newest on news (created_at desc, id desc); set check_function_bodies = off");
  await db.sql("vacuum (analyze) news");
  places = await db.sql(
    `select n, at, id
       from (select (created_at at time zone 'UTC')::text || '+00' as at, id,
                    (row_number() over (order by created_at desc, id desc))::integer as n
               from news where user_id = 'user 3') as own
      where n = any ($1)`,
    [depths.map((depth) => depth + 1)],
  );
  for (const crud of api["~svc"].crud) await db.sql(crudFile(crud));

  client = await db.connect("admin");
  // Simulates tables that are larger than the server's memory, at a size that a test can fill.
  await client.query("set effective_cache_size = '8MB'");
  client.on("notice", ({ message }) => notices.push(message ?? ""));
  // Not every server has this module; rows read are counted everywhere.
  plansAreTold = await client.query("load 'auto_explain'").then(
    () => true,
    () => false,
  );
  if (!plansAreTold) return;
  await client.query(
    "set auto_explain.log_level = 'notice'; set auto_explain.log_nested_statements = on; set auto_explain.log_min_duration = 0",
  );
}, 300_000);

const read = async (): Promise<{ scanned: number; fetched: number }> => {
  const { rows: found } = await client.query(
    `select sum(pg_stat_get_xact_tuples_returned(c.oid))::integer as scanned,
            sum(pg_stat_get_xact_tuples_fetched(c.oid))::integer as fetched
       from pg_class c where c.oid = 'public.news'::regclass`,
  );
  return found[0];
};

/** Lists as user 3. @returns the rows read sequentially, those found by an index, and the plans */
const list = (name: string, args: object) =>
  observe({ text: `select svc_crud.${name}_list($1) as it`, values: [JSON.stringify(args)] });

async function observe(query: pg.QueryConfig) {
  await client.query("begin");
  await client.query("select set_config('svc.user_id', 'user 3', true), set_config('role', 'svc_authenticated', true)");
  const before = await read();
  notices = [];
  const { it } = (await client.query(query)).rows[0];
  const after = await read(); // a prepared statement ends, and its plan is told, when the next one begins
  const plans = notices.filter((plan) => plan.includes(" on news")).join("\n");
  await client.query("rollback");
  return { it, plans, scanned: after.scanned - before.scanned, fetched: after.fetched - before.fetched };
}

const shapes: [what: string, args: object, most: number][] = [
  ["the first page", {}, 25],
  ["a page of the size that is asked for", { limit: 50 }, 55],
  ["the second page", { page: 2 }, 45],
  ["a page by a filter", { filters: { done: { op: "eq", value: false } } }, 40],
  ["the first page by cursor", { cursor: null }, 25],
];

test.for(shapes)("%s of a table that everybody reads is found along an index", async ([, args, most]) => {
  for (let time = 0; time < 7; time++) {
    const { it, plans, scanned, fetched } = await list("news", args);
    expect(it.data.length).toBeGreaterThanOrEqual(20);
    expect(scanned).toBe(0);
    expect(fetched).toBeLessThanOrEqual(most);
    if (!plansAreTold) continue;
    expect(plans).toContain("Index Scan using news_newest");
    expect(plans).not.toMatch(/Seq Scan|Sort/);
  }
});

test("a page longer than the plan is made for gets a plan of its own", async () => {
  const { it, scanned, fetched } = await list("news", { limit: 300 });
  expect([it.data.length, scanned]).toEqual([300, 0]);
  expect(fetched).toBeLessThanOrEqual(305);
});

const walks: [what: string, args: object, most: number][] = [
  ["without filters", {}, 25],
  ["with a filter that most rows match", { filters: { done: false } }, 40],
  ["with a filter that a seventh of the rows match", { filters: { done: true } }, 250],
];
const walk = (name: string) =>
  test.for(walks)(
    "a page by cursor %s, deep in the table, is found along an index by the plan that is kept",
    async ([, args, most]) => {
      const crud = api["~svc"].crud.find(({ prefix }) => prefix === name);
      const first = await list(name, { ...args, cursor: null });
      const [listName] = JSON.parse(Buffer.from(first.it.nextCursor, "base64url").toString());
      await client.query("set plan_cache_mode = force_generic_plan");
      expect(places).toHaveLength(depths.length);
      for (const place of places) {
        const cursor = Buffer.from(JSON.stringify([listName, place.at, String(place.id)])).toString("base64url");
        const shape = crud && listShape(crud, { ...args, cursor });
        if (!shape?.compared) throw new Error("Its plan is never kept.");
        const [written] = await db.sql<{ text: string }>(
          `select svc.list_statement(svc_crud.${name}_resource() || $1::jsonb) as text`,
          [JSON.stringify({ shape: shape.shape })],
        );
        const text = `select result::json as it from (${written?.text}) as page`;
        const { it, plans, scanned, fetched } = await observe({
          name: shape.key.slice(0, 60),
          text,
          values: shape.values,
        });
        const isBehind = (row: { createdAt: string; id: number }) => new Date(row.createdAt) <= new Date(place.at);
        expect(it.data.length).toBeGreaterThan(10);
        expect(it.data.every(isBehind)).toBe(true);
        expect(scanned).toBe(0);
        expect(fetched).toBeLessThanOrEqual(most);
        if (!plansAreTold) continue;
        expect(plans).toContain(`Index Scan using ${name}_newest`);
        expect(plans).toMatch(/Index Cond: .*ROW\(created_at, id\) < ROW\(\$/);
        expect(plans).not.toMatch(/Seq Scan|Sort/);
      }
      await client.query("reset plan_cache_mode");
    },
  );

walk("news");

describe("of rows that only their owners read", () => {
  beforeAll(() =>
    db.sql(`
      drop policy read_all on news;
      create policy read_own on news for select to svc_authenticated using (user_id = (select svc.current_user_id()));
      drop index news_newest;
      create index own_newest on news (user_id, created_at desc, id desc);
      create index own_user on news (user_id)`),
  );

  test.for(shapes)("%s of one's own rows is found along the owner's index", async ([, args, most]) => {
    const { it, plans, scanned, fetched } = await list("own", args);
    expect(it.data.length).toBeGreaterThanOrEqual(20);
    expect(scanned).toBe(0);
    expect(fetched).toBeLessThanOrEqual(most);
    if (!plansAreTold) return;
    expect(plans).toContain("Index Scan using own_newest");
    expect(plans).not.toMatch(/Seq Scan|Sort/);
  });

  walk("own");
});
