// If this file fails, the search index keeps a group for each user there ever was, or loses rows that are written while
// groups are removed.
import { beforeEach, expect, test } from "vitest";
import { foldSearch } from "../../src/search/fold-search.ts";
import { database } from "../support/database.ts";
import { addPages } from "./application.ts";

const db = database();
const page = (userId: string, title = "boat") => ({ userId, title, visibility: "private" as const });
const insert = "insert into pages (user_id, title) values ('bob', 'boat')";

/** Whose rows have a group. */
const owners = async () =>
  (await db.sql<{ owner_id: string }>("select owner_id from svc_private.search_groups order by 1")).map(
    ({ owner_id }) => owner_id,
  );
const matches = `select from svc_private.find_matches('"public"."pages"', '{title}', 'boat', 'default', 'private', $1, 9)`;
const found = async (owner: string) => (await db.sql(matches, [owner])).length;

beforeEach(async () => {
  await db.sql("truncate pages; delete from svc_private.search_groups");
  await addPages(db, [page("ann"), page("ann", "crane"), page("bob"), page("cat")]);
  await db.sql("delete from pages where user_id in ('bob', 'cat')");
});

test("the daily care removes the groups of users without rows, and all that belongs to them", async () => {
  expect(await owners()).toEqual(["ann", "bob", "cat"]);
  await foldSearch(db.pool("system"));
  expect(await owners()).toEqual(["ann"]);
  const others = "where group_id not in (select id from svc_private.search_groups)";
  expect(await db.sql(`select from svc_private.search_totals ${others}`)).toEqual([]);
  expect(await db.sql(`select from svc_private.search_counters ${others}`)).toEqual([]);
  expect(await found("ann")).toBe(1);

  await db.sql(insert);
  expect(await found("bob")).toBe(1);
});

test("more groups than are removed at once", async () => {
  await db.sql("insert into pages (user_id, title) select 'user ' || n, 'boat' from generate_series(1, 2100) n");
  await db.sql("delete from pages where user_id <> 'ann'");
  await foldSearch(db.pool("system"));
  expect(await owners()).toEqual(["ann"]);
});

test("a row that is being written stays findable, and the groups go the next time", async () => {
  const writer = await db.connect("system");
  await writer.query(`begin; ${insert}`);
  await foldSearch(db.pool("system"));
  await writer.query("commit");
  expect(await found("bob")).toBe(1);
  await foldSearch(db.pool("system"));
  expect(await owners()).toEqual(["ann", "bob"]);
});

test("a writer whose snapshot still has a removed group is told to begin again", async () => {
  const writer = await db.connect("system");
  await writer.query("begin isolation level repeatable read; select");
  await foldSearch(db.pool("system"));
  await expect(writer.query(insert)).rejects.toThrow("could not serialize access");
  await writer.query("rollback");
});
