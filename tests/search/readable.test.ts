// If this file fails, a search tells of columns that its caller may not select, or finds private rows of others.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

test("of private rows that the policies show, the search by vector finds the caller's", async () => {
  await db.sql(`
    create table drafts (id integer primary key, title text, user_id text, visibility text);
    insert into drafts values (1, 'x', 'ann', 'private'), (2, 'x', 'bob', 'private'), (3, 'x', 'bob', 'public')`);
  const scope = { corpus: null, visibility: "visibility", owner: "user_id", always: null };
  const declared = [{ table: "public.drafts", id: "id", fields: ["title"], language: "simple", ...scope }];
  await db.sql("select svc_private.install_search($1, 'drafts')", [JSON.stringify(declared)]);
  const client = await db.connect("admin");
  await client.query("begin; select set_config('svc.user_id', 'ann', true)");
  const shown = async (asked: object) => {
    const { rows } = await client.query(
      "select svc_hidden.search_condition(svc_hidden.search_target('public.drafts'), $1, '[]') as condition",
      [{ corpus: "default", ...asked }],
    );
    return (await client.query(`select id from drafts t where ${rows[0].condition} order by id`)).rows.map(
      ({ id }) => id,
    );
  };
  expect(await shown({ visibility: "private" })).toEqual([1]);
  expect(await shown({ visibility: "private", owner: "bob" })).toEqual([2]);
  expect(await shown({ visibility: "public" })).toEqual([3]);
  await client.query("rollback");
});

test("a column that the caller may not select is not searched either", async () => {
  await db.sql(`
    create table cases (id integer primary key, title text, verdict text);
    insert into cases values (1, 'theft', 'guilty');
    grant select (id, title) on cases to svc_authenticated`);
  const scope = { corpus: null, visibility: null, owner: null, always: "public" };
  const declared = [{ table: "public.cases", id: "id", fields: ["title", "verdict"], language: "simple", ...scope }];
  await db.sql("select svc_private.install_search($1, 'cases')", [JSON.stringify(declared)]);
  await db.sql("alter table cases disable row level security");
  const client = await db.connect("request");
  const search = async (fields: string[], query: string) => {
    await client.query("begin; set local svc.user_id = 'ann'; set local role svc_authenticated");
    const found = client.query("select id from svc.search_keyword($1, $2, $3, $4, '[]', 10, 0)", [
      { table: "public.cases" },
      fields,
      query,
      { corpus: "default", visibility: "public" },
    ]);
    const ids = await found.then(({ rows }) => rows.map(({ id }) => id)).finally(() => client.query("rollback"));
    return ids;
  };
  expect(await search(["title"], "theft")).toEqual(["1"]);
  await expect(search(["title", "verdict"], "guilty")).rejects.toMatchObject({ code: "42501" });
});
