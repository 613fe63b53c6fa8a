// If this file fails, changes of a table with an unusual key or name are not kept, not found, or not told by webhooks.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database("platform");
beforeAll(async () => {
  await db.sql(`create extension if not exists citext schema extensions; create extension if not exists ltree schema extensions;
    grant create on schema public to svc_owner;
    create type public.pair as (a text, "b c" integer); alter type public.pair owner to svc_owner;
    create domain public.code as char(3) check (value <> 'xxx'); create domain public.slug as extensions.citext;
    create domain public.path as extensions.ltree; create domain public.short_path as public.path;
    create type public."Mood" as enum ('glad', 'not "glad"')`);
});

/** Types of keys, and a value each. */
const keys: [type: string, value: string][] = [
  ["char(26)", "01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ["char(5)", "ab"],
  ["varchar(3)", "abc"],
  ["bit(3)", "101"],
  ["bit varying(8)", "1011"],
  ['"char"', "c"],
  ["name", "a name"],
  ["numeric(6,2)", "12.50"],
  ["extensions.citext", "Mixed"],
  ["extensions.ltree", "top.below"],
  ["public.code", "abc"],
  ["public.slug", "Slug"],
  ["public.short_path", "top.below"],
  ["extensions.citext[]", "{Mixed}"],
  ['public."Mood"', 'not "glad"'],
  ["public.pair", '("x ""y""",7)'],
  ["text[]", '{a,"b c"}'],
  ["int4range", "[1,5)"],
  ["inet", "192.0.2.1"],
  ["macaddr", "08:00:2b:01:02:03"],
  ["interval", "1 day 02:00:00"],
  ["timetz", "01:02:03+09"],
  ["timestamptz", "2026-03-04 05:06:07.123456+00"],
  ["oid", "7"],
  ["pg_lsn", "0/10"],
  ["xid8", "12"],
];

test.each(keys)("a key of type %s", async (type, value) => {
  const table = `"public"."Odd ""table"" $1 %s '"`;
  const column = `"new ""key"" $1 %I '"`;
  const name = `new "key" $1 %I '`;
  const admin = await db.connect("admin");
  await admin.query("begin; set local role svc_owner; set local search_path = ''");
  await admin.query(
    `create table ${table} (${column} ${type} primary key, "old" text, "user_id" text, url text, secret text, enabled boolean default true)`,
  );
  await admin.query("create table public.told (id integer primary key, user_id text)");
  await admin.query("select svc_private.install_history($1)", [JSON.stringify([{ table, keys: [name], omit: [] }])]);
  const endpoints = { table, key: name, owner: "user_id" };
  const webhooks = [
    {
      name: "odd",
      table,
      key: [name],
      columns: [name, "old"],
      data: `t.${column}`,
      when: ["insert", "update", "delete"],
      env: "X",
    },
    {
      name: "told",
      table: "public.told",
      key: ["id"],
      columns: ["id"],
      data: "t.id",
      when: ["insert"],
      endpoints,
      owner: "user_id",
    },
  ];
  await admin.query("select svc_private.install_webhooks($1)", [JSON.stringify(webhooks)]);
  await admin.query(
    `insert into ${table} (${column}, user_id, url, secret) values ($1, 'ann', 'https://a.example', 's')`,
    [value],
  );
  await admin.query(`update ${table} set "old" = 'x'`);
  await admin.query("insert into public.told values (1, 'ann')");
  await admin.query("reset role");
  const history = await admin.query("select operation from svc.row_history($1::regclass, $2)", [table, value]);
  expect(history.rows).toEqual([{ operation: "update" }, { operation: "insert" }]);
  const found = await admin.query("select webhook from svc.row_deliveries($1::regclass, $2)", [table, value]);
  expect(found.rows).toEqual([{ webhook: "told" }]);
  const claimed = await admin.query("select webhook, url from svc_private.claim_deliveries(9, '1 minute') order by 1");
  expect(claimed.rows).toEqual([
    { webhook: "odd", url: null },
    { webhook: "told", url: "https://a.example" },
  ]);
  await admin.query("rollback");
});

test("columns that are named as variables and keywords, of every kind, in partitions with another order of columns", async () => {
  const names = [
    "changed",
    "operation",
    "item",
    "t",
    "noted",
    "tg_op",
    "new",
    "old",
    "webhook",
    "key",
    "before",
    "after",
    "target",
    "select",
    "row",
    "e",
    "was",
  ];
  const quoted = names.map((name) => `"${name}"`);
  const table = '"public"."new"';
  const admin = await db.connect("admin");
  await admin.query("begin; set local role svc_owner; set local search_path = ''");
  await admin.query(`create domain public.whole as public.pair check ((value)."b c" > 0);
    create table ${table} (day date, "row_id" integer, ${quoted.map((name) => `${name} text`).join(", ")}, part public.whole,
      many public.pair[], twice text generated always as ("t" || "t") stored, primary key (day, "row_id")) partition by range (day);
    create table public.part (gone integer, twice text generated always as ("t" || "t") stored, many public.pair[], part public.whole,
      ${quoted
        .toReversed()
        .map((name) => `${name} text`)
        .join(", ")}, "row_id" integer not null, day date not null);
    alter table public.part drop column gone;
    alter table ${table} attach partition public.part for values from ('2026-01-01') to ('2027-01-01')`);
  const columns = ["row_id", ...names, "part", "many", "twice"];
  await admin.query("select svc_private.install_history($1)", [
    JSON.stringify([{ table, keys: ["day", "row_id"], omit: [] }]),
  ]);
  const webhook = {
    name: "odd",
    table,
    key: ["day", "row_id"],
    columns,
    data: columns.map((name) => `t."${name}"`).join(", "),
    when: ["insert", "update", "delete"],
    env: "X",
    filter: { old: "old" },
  };
  await admin.query("select svc_private.install_webhooks($1)", [JSON.stringify([webhook])]);
  await admin.query(`insert into ${table} (day, "row_id", ${quoted.join(", ")}, part, many) values ('2026-03-04', 7,
    ${names.map((name) => `'${name}'`).join(", ")}, row('x', 1), array[row('y', 2)::public.pair])`);
  await admin.query(`update ${table} set "t" = 'other'`);
  await admin.query(`reset role`);
  const values = Object.fromEntries(names.map((name) => [name, name]));
  const row = { row_id: 7, ...values, part: { a: "x", "b c": 1 }, many: [{ a: "y", "b c": 2 }], twice: "tt" };
  const told = await admin.query(
    "select body::jsonb -> 'data' as data, body::jsonb ->> 'operation' as operation from svc.webhook_deliveries order by sequence",
  );
  expect(told.rows).toEqual([
    { operation: "insert", data: row },
    { operation: "update", data: { ...row, t: "other", twice: "otherother" } },
  ]);
  const kept = await admin.query("select operation, changed from svc.row_history($1::regclass, $2)", [
    table,
    '["2026-03-04", 7]',
  ]);
  expect(kept.rows).toMatchObject([
    { operation: "update", changed: { t: ["t", "other"], twice: ["tt", "otherother"] } },
    { operation: "insert" },
  ]);
  await admin.query("rollback");
});
