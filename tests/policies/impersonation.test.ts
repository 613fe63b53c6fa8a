// If this file fails, SQL inside a request can become another user, bypass the policies, or forge messages of the
// platform. PostgreSQL itself must refuse: the tests use the requests' own login and none of our TypeScript.
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

/** A transaction as Ann, entered the way src/postgres/transaction.ts does. */
async function entered(): Promise<pg.Client> {
  const client = await db.connect("request");
  await client.query("begin");
  await client.query("select set_config('svc.user_id', 'ann', true), set_config('role', 'svc_authenticated', true)");
  return client;
}

/** Runs one statement as Ann, by the protocol that requests use: the extended one, even without parameters. */
async function asAnn(text: string): Promise<pg.QueryResult> {
  const client = await entered();
  return client.query({ text, queryMode: "extended" } as pg.QueryConfig);
}

beforeAll(async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test')`,
  );
  await db.sql("insert into notes (user_id, title) values ('bob', 'private')");
});

describe("becoming someone else", () => {
  const attempts = [
    ["by set_config in the select list", "select set_config('svc.user_id', 'bob', true), (select count(*) from notes)"],
    ["by set_config in a condition", "select * from notes where set_config('svc.user_id', 'bob', true) is not null"],
    [
      "by set_config in a lateral join",
      "select n.* from (select set_config('svc.user_id', 'bob', true) offset 0) s, lateral (select * from notes) n",
    ],
    ["by the alias behind pg_settings", "update pg_settings set setting = 'bob' where name = 'svc.user_id'"],
    ["by changing the role with set_config", "select set_config('role', 'svc_system', true)"],
    [
      "by a statement hidden in XML functions",
      "select query_to_xml('select set_config(''svc.user_id'', ''bob'', true)', true, true, '')",
    ],
    ["by SET hidden in XML functions", "select query_to_xml('set local svc.user_id = ''bob''', true, true, '')"],
    ["by a second statement behind the first", "select 1; set local svc.user_id = 'bob'"],
    ["by a commit and a new beginning", "select 1; commit; begin"],
    [
      "by a function of its own",
      "create function pg_temp.f() returns text language sql as $$ select set_config('svc.user_id', 'bob', true) $$",
    ],
    ["by a function in public", "create function public.f() returns text language sql as $$ select 'x' $$"],
    ["by an anonymous block", "do $$ begin perform set_config('svc.user_id', 'bob', true); end $$"],
    ["by a role that bypasses", "set role svc_system"],
    ["by the owner's role", "set role svc_owner"],
    ["by another session", "set session authorization svc_system"],
  ] as const;

  test.for(attempts)("%s fails", async ([, statement]) => {
    await expect(asAnn(statement)).rejects.toThrow(/permission denied|cannot insert multiple commands|not allowed/);
  });

  test("by pg_settings inside a common table expression changes nothing", async () => {
    const client = await entered();
    await client.query("with x as (update pg_settings set setting = 'bob' where name = 'svc.user_id') select 1");
    await client.query("with x as (update pg_settings set setting = 'svc_system' where name = 'role') select 1");
    const { rows } = await client.query("select svc.current_user_id() as id, current_user as role");
    expect(rows).toEqual([{ id: "ann", role: "svc_authenticated" }]);
  });

  test("is not needed to be stopped where nothing was tried: Ann sees none of Bob's rows", async () => {
    expect((await asAnn("select * from notes")).rows).toEqual([]);
  });
});

describe("reaching past the request plane", () => {
  const attempts = [
    "truncate notes",
    "alter table notes disable row level security",
    "drop policy select_owner on notes",
    "create policy mine on notes using (true)",
    "grant svc_system to svc_authenticated",
    "select * from svc_private.applied_migrations",
    'select * from auth."user"',
    "select * from auth.session",
    "select * from auth.account",
    "create table public.t (a int)",
    "create temporary table t (a int)",
    "select pg_logical_emit_message(true, 'svc', 'forged')",
    "select pg_notify('svc', 'forged')",
    "copy notes to '/tmp/x'",
    "select pg_read_file('/etc/passwd')",
    "select lo_import('/etc/passwd')",
    "create trigger t before insert on notes execute function suppress_redundant_updates_trigger()",
  ];
  test.for(attempts)("%s fails", async (statement) => {
    await expect(asAnn(statement)).rejects.toThrow(/permission denied|must be (owner|member|superuser)|must have/);
  });
});

describe("the requests' login itself", () => {
  test("is a member of the two request roles and of nothing else", async () => {
    const rows = await db.sql<{ role: string }>(
      `with recursive reach as (
         select roleid from pg_auth_members where member = 'svc_request'::regrole
         union select m.roleid from pg_auth_members m join reach r on m.member = r.roleid)
       select roleid::regrole::text as role from reach order by 1`,
    );
    expect(rows.map(({ role }) => role)).toEqual(["svc_anonymous", "svc_authenticated"]);
  });

  test("reads no table before it has changed its role", async () => {
    const client = await db.connect("request");
    await expect(client.query("select * from public.notes")).rejects.toThrow(/permission denied/);
    await expect(client.query("select * from public.guestbook")).rejects.toThrow(/permission denied/);
  });

  test.for(["svc_request", "svc_anonymous", "svc_authenticated", "svc_auth"])("%s owns nothing", async (role) => {
    const rows = await db.sql("select oid::regclass from pg_class where relowner = $1::regrole", [role]);
    expect(rows).toEqual([]);
  });

  test("the authentication library's login sees its own schema and nothing of the application", async () => {
    const client = await db.connect("auth");
    await expect(client.query("select * from public.notes")).rejects.toThrow(/permission denied/);
    await expect(client.query("set role svc_authenticated")).rejects.toThrow(/permission denied/);
  });
});
