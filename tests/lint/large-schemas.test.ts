// If this file fails, `svc db lint`, `svc doctor` and a save of the schema under `svc dev` take half a minute on a schema of 300
// tables: the linter compiles a regular expression for every column of every policy.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

const columns = Array.from({ length: 60 }, (_, at) => `c${at} integer`).join(", ");
beforeAll(() =>
  db.sql(`create schema lab; create table lab.seats (club integer, member text);
    create table lab.narrow (id integer primary key, club integer, owner text);
    create table lab.wide (id integer primary key, club integer, owner text, ${columns})`),
);

/** How many patterns the linter makes for the policies of one table. */
async function patterns(table: string): Promise<number> {
  const client = await db.connect("admin");
  await client.query("begin");
  try {
    await client.query(`alter table ${table} enable row level security;
      create policy mine on ${table} for all to svc_authenticated using (owner = (select svc.current_user_id()))
        with check (club in (select seats.club from lab.seats where member = (select svc.current_user_id())));
      create policy join_club on ${table} for insert to svc_authenticated
        with check (club in (select seats.club from lab.seats where member = (select svc.current_user_id())));
      set local track_functions = 'all'`);
    await client.query("select * from svc_private.lint_schema()");
    const { rows } = await client.query(
      "select calls from pg_stat_xact_user_functions where schemaname = 'svc_private' and funcname = 'name_pattern'",
    );
    return Number(rows[0].calls);
  } finally {
    await client.query("rollback");
    await client.end();
  }
}

test("the linter makes patterns for the columns that a policy names, and not for the others", async () => {
  const narrow = await patterns("lab.narrow");
  expect(narrow).toBeGreaterThan(0);
  expect(await patterns("lab.wide")).toBe(narrow);
});
