// If this file fails, rows of a searchable table with an unusual key or name are not found, or stay in the index when a session that
// shows values in its own way changes them.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database("platform");
beforeAll(async () => {
  await db.sql(`create extension if not exists citext schema extensions; create extension if not exists ltree schema extensions;
    grant create on schema public to svc_owner;
    create domain public.slug as extensions.citext`);
});

const keys: [type: string, value: string][] = [
  ["char(26)", "01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ["char(5)", "ab"],
  ["varchar(3)", "abc"],
  ["numeric(6,2)", "12.50"],
  ["extensions.citext", "Mixed"],
  ["extensions.ltree", "top.below"],
  ["public.slug", "Slug"],
  ["timestamp", "2026-03-04 05:06:07.123456"],
  ["interval", "-1 day -02:03:04"],
  ["bytea", "\\x61ff"],
  ["date", "2026-03-04"],
  ["timestamptz", "2026-03-04 05:06:07.123456+00"],
  ["float8", "0.1"],
];

const others =
  "set local datestyle = 'SQL, DMY'; set local intervalstyle = 'sql_standard'; set local bytea_output = 'escape'; set local quote_all_identifiers = on; " +
  "set local timezone = 'Asia/Seoul'; set local extra_float_digits = 0";
const usual =
  "reset datestyle; reset intervalstyle; reset bytea_output; reset quote_all_identifiers; reset timezone; reset extra_float_digits";

test.each(keys)("a key of type %s", async (type, value) => {
  const table = `"public"."Odd ""table"" $1 %s '"`;
  const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
  const [id, title, body, owner] = [`new "key" $1 %I '`, 'the "title" %s', "select", "user"];
  const admin = await db.connect("admin");
  await admin.query("begin; set local role svc_owner; set local search_path = ''");
  await admin.query(
    `create table ${table} (${quote(id)} ${type} primary key, ${quote(title)} text, ${quote(body)} text, ${quote(owner)} text)`,
  );
  const wanted = [{ table, id, fields: [title, body], language: "english", owner, always: "shared" }];
  await admin.query("select svc_private.install_search($1)", [JSON.stringify(wanted)]);
  await admin.query("reset role; set local search_path = public, extensions");
  const search = async (word: string) => {
    const text = `select count(*)::int as n from svc.search_keyword($1, $2, $3, $4, '[]', 10, 0) s join ${table} t on t.${quote(id)} = s.id::${type}`;
    return (
      await admin.query(text, [
        { table },
        [title, body],
        word,
        { corpus: "default", visibility: "shared", owner: null },
      ])
    ).rows[0].n;
  };
  await admin.query(`insert into ${table} values ($1, 'Bicycles', 'stand in the cellar', 'ann')`, [value]);
  await admin.query(others);
  expect(await search("bicycle")).toBe(1);
  await admin.query(`update ${table} set ${quote(title)} = 'Boats'`);
  expect([await search("bicycle"), await search("boat")]).toEqual([0, 1]);
  await admin.query(usual);
  expect(await search("boat")).toBe(1);
  await admin.query(`delete from ${table}`);
  expect((await admin.query("select from svc_private.search_documents")).rows).toEqual([]);
  await admin.query("set local svc.defers_indexing = on"); // as an import
  await admin.query(`insert into ${table} values ($1, 'Bicycles', 'stand in the cellar', 'ann')`, [value]);
  await admin.query("select svc_hidden.index_waiting_rows(); set local svc.defers_indexing = off");
  expect(await search("bicycle")).toBe(1);
  await admin.query(others);
  await admin.query("select svc_private.install_search('[]')");
  await admin.query("select svc_private.install_search($1)", [JSON.stringify(wanted)]); // as a migration with such settings
  await admin.query(usual);
  await admin.query(`delete from ${table}`);
  expect((await admin.query("select from svc_private.search_documents")).rows).toEqual([]);
  await admin.query("rollback");
});

test("the few rows that a filter admits among many are found by a key that the session shows in another way", async () => {
  const admin = await db.connect("admin");
  await admin.query("begin; set local role svc_owner; set local search_path = ''");
  await admin.query("create table public.moments (at timestamptz primary key, title text, mine boolean)");
  const wanted = [{ table: "public.moments", id: "at", fields: ["title"], language: "english", always: "shared" }];
  await admin.query("select svc_private.install_search($1)", [JSON.stringify(wanted)]);
  await admin.query(`reset role; set local search_path = public, extensions; ${others};
    insert into public.moments select '2026-03-04'::timestamptz + n * interval '1 s', 'Bicycle', n = 5000 from generate_series(1, 5000) n`);
  const { rows } = await admin.query(
    "select id::timestamptz = '2026-03-04'::timestamptz + interval '5000 s' as it from svc.search_keyword($1, $2, $3, $4, $5, 10, 0)",
    [
      { table: "public.moments" },
      ["title"],
      "bicycle",
      { corpus: "default", visibility: "shared", owner: null },
      JSON.stringify([{ column: { name: "mine", type: "boolean", kind: "boolean" }, op: "eq", value: true }]),
    ],
  );
  expect(rows).toEqual([{ it: true }]);
  await admin.query("rollback");
});
