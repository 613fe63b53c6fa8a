// If this file fails, PostgreSQL compiles plans that run for less than a millisecond: with JIT on, which is the
// default, claiming a job takes 300 ms instead of 0.5.
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { database, type Login } from "../support/database.ts";

const db = database();
const logins: Login[] = ["request", "system", "auth"];

test.for(logins)("the login of the %s pool compiles nothing, whatever the server says", async (login) => {
  await db.sql(`alter database ${db.name} set jit = on`);
  try {
    const client = await db.connect(login);
    expect((await client.query("show jit")).rows).toEqual([{ jit: "off" }]);
    // The database has its own setting, but the login's takes precedence.
    const admin = await db.connect("admin");
    expect((await admin.query("show jit")).rows).toEqual([{ jit: "on" }]);
  } finally {
    await db.sql(`alter database ${db.name} reset jit`);
  }
});

/** Functions that other logins call as well, such as a DBA: their statements read tables of some size. */
const calls: [name: string, statement: string][] = [
  ["claim_job", "select * from svc_private.claim_job('a worker', '{1,2,3}', null)"],
  ["queue_state", "select * from svc_private.queue_state()"],
  ["lint_schema", "select * from svc_private.lint_schema()"],
  [
    "find_matches",
    "select * from svc_private.find_matches('\"public\".\"compiled\"', '{body}', 'word', 'default', 'public', null, 5)",
  ],
];

let client: pg.Client;
let missing: string | undefined;
beforeAll(async () => {
  client = await db.connect("admin");
  await client.query("set jit = on; set jit_above_cost = 0"); // it is not "available" where it is off
  const {
    rows: [can],
  } = await client.query(
    "select pg_jit_available() as jit, current_setting('shared_preload_libraries') = 'pg_stat_statements' as statistics",
  );
  if (!can?.jit) missing = "this server has no LLVM";
  else if (!can.statistics) missing = "this server has no pg_stat_statements";
  if (missing) return;
  await db.sql("create extension if not exists pg_stat_statements schema extensions");
  await db.sql("create table compiled (id integer primary key, body text)");
  await db.sql("insert into compiled values (1, 'word')");
  const declared = [
    { table: '"public"."compiled"', id: "id", fields: ["body"], language: "english", always: "public" },
  ];
  await db.sql("select svc_private.install_search($1)", [JSON.stringify(declared)]);
  await client.query("set pg_stat_statements.track = 'all'");
});

/** Functions that PostgreSQL compiled for statements of this database, inside of functions or outside. */
const compiled = async (inside: boolean): Promise<number> => {
  const { rows } = await client.query(
    `select coalesce(sum(jit_functions), 0)::integer as functions from extensions.pg_stat_statements
      where toplevel <> $1 and dbid = (select oid from pg_database where datname = current_database())`,
    [inside],
  );
  return rows[0].functions;
};

test.for(calls)("%s compiles none of its statements where everything is compiled", async ([, statement], { skip }) => {
  if (missing) skip(missing);
  const before = await compiled(true);
  await client.query(statement);
  expect(await compiled(true)).toBe(before);
});

test("a function that does not say so has its statements compiled there: the counts above count", async ({ skip }) => {
  if (missing) skip(missing);
  await db.sql(`create function public.compiles() returns bigint language plpgsql as
    'begin return (select count(*) from public.compiled c where c.id + 1 > 0); end'`);
  const before = await compiled(true);
  await client.query("select public.compiles()");
  expect(await compiled(true)).toBeGreaterThan(before);
});
