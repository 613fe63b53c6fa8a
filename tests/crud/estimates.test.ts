// If this file fails, the estimated total of a list discloses other users' rows, or is far off.
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
let ann: pg.Client;

const notes = {
  name: "notes",
  table: "public.notes",
  row: "t.id, t.priority",
  item: "json_build_object('id', t.id)",
  orderBy: "id",
  count: "estimated",
  columns: { id: { name: "id", type: "integer", notNull: true } },
  filters: { priority: { name: "priority", type: "integer", kind: "integer", array: false, values: null } },
  search: ["title"],
};

async function total(args: object, page = 1): Promise<number> {
  const text =
    "select svc.find_rows($1 || jsonb_build_object('args', $2::jsonb, 'pageSize', 20, 'page', $3::integer)) ->> 'total' as total";
  return Number((await ann.query<{ total: string }>(text, [notes, args, page])).rows[0]?.total);
}
/** Sequential, because there is one connection. */
async function totals(asked: object[]): Promise<number[]> {
  const all: number[] = [];
  for (const args of asked) all.push(await total(args));
  return all;
}
const atLeast = (priority: number) => ({ filters: { priority: { op: "gte", value: priority } } });

beforeAll(async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test')`,
  );
  await db.sql(
    "insert into notes (user_id, title, priority) select 'ann', 'n' || n, n % 4 from generate_series(1, 2000) n",
  );
  await db.sql("insert into notes (user_id, title, priority) select 'bob', 'b', 1 from generate_series(1, 2000) n");
  await db.sql("analyze notes");
  ann = await db.connect("request");
  await ann.query("begin read only");
  await ann.query("select set_config('svc.user_id', 'ann', true), set_config('role', 'svc_authenticated', true)");
});

test("what the rows of others hold changes nothing", async () => {
  const asked = [atLeast(1), atLeast(2), atLeast(3), { search: "9" }, { ...atLeast(2), search: "1" }];
  const before = await totals(asked);
  await db.sql("update notes set priority = 3, title = '9' where user_id = 'bob'");
  await db.sql("analyze notes");
  expect(await totals(asked)).toEqual(before);
});

test("of a condition of the caller there is no estimate", async () => {
  const estimate = (condition: string) => db.sql("select svc.estimate_rows('public.notes', $1)", [condition]);
  for (const condition of ["t.priority = 1", "t.id is null or true", "exists (select) or t.id is null"])
    await expect(estimate(condition)).rejects.toMatchObject({ code: "42501" });
  expect(await estimate("t.id is null")).toHaveLength(1);
});

test("an estimate is near what there is", async () => {
  expect(await total(atLeast(2))).toBeGreaterThan(800);
  expect(await total(atLeast(2))).toBeLessThan(1200);
});

test("what fits on the page is counted, and no total is less than what was shown", async () => {
  expect(await total(atLeast(4))).toBe(0);
  expect(await total({ search: "n1999" })).toBe(1);
  // None of the first thousand match, and all of the last.
  await db.sql("update notes set title = 'late' where user_id = 'ann' and id > 1900");
  expect(await total({ search: "late" }, 2)).toBeGreaterThanOrEqual(41);
});

test("a list function that an earlier version generated gets the same answer", async () => {
  const args = { ...atLeast(2), orderBy: "id", cursor: null };
  const earlier = await ann.query("select svc.find_rows($1, $2, 20, 1) as it", [notes, args]);
  const now = await ann.query(
    "select svc.find_rows($1 || jsonb_build_object('args', $2::jsonb, 'pageSize', 20, 'page', 1)) as it",
    [notes, args],
  );
  expect(earlier.rows[0].it.data).toHaveLength(20);
  expect(earlier.rows).toEqual(now.rows);
});
