// If this file fails, a manual change of the database is not reported by `svc db drift`.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import {
  compareFacts,
  describeFiles,
  type Fact,
  findDrift,
  readFacts,
  withoutRolesByHand,
} from "../../src/migrate/drift.ts";
import { refuseUsed, withScratchDatabase } from "../../src/migrate/scratch.ts";
import { maintain } from "../support/admin.ts";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
const scratch = database("template0");
let expected: Fact[];
let admin: pg.Client;

beforeAll(async () => {
  // Privileges on the database itself are not cloned from the template.
  await db.sql(`grant create on database ${db.name} to svc_owner`);
  const files = { adminUrl: db.url("admin"), platform: root, application: join(root, "tests/fixture") };
  // As on a host where the administrator may not create databases; the command below creates its own.
  expected = await describeFiles({ ...files, scratchUrl: scratch.url("admin") });
  admin = await db.connect("admin");
});

test("a database that was only migrated has none", async () => {
  expect(compareFacts(expected, await readFacts(admin))).toEqual([]);
});

/** Manual changes, and the expected differences: state, object, kind, part. */
const planted: [sql: string, ...told: string[]][] = [
  // Roles belong to the server. In the order of roles.sql, to avoid deadlocks with migrations of other files.
  ["alter role svc_authenticated bypassrls", "differs role svc_authenticated itself"],
  ["alter role svc_request inherit", "differs role svc_request itself"],
  ["alter role svc_request set search_path = 'other'", "unexpected role svc_request setting search_path"],
  ["alter role svc_request set jit = on", "differs role svc_request setting jit"],
  [
    "alter role svc_system in database {database} set row_security = off",
    "unexpected role svc_system setting row_security in database {database}",
  ],
  ["grant svc_anonymous to svc_replicator", "unexpected role svc_replicator member of svc_anonymous"],
  ["create table by_hand (id int)", "unexpected table public.by_hand itself"],
  ["create table measured (at int primary key) partition by range (at)", "unexpected table public.measured itself"],
  ["create table measured_1 partition of measured for values from (1) to (2)"], // as a cron does
  [
    `create table measured_2 partition of measured for values from (2) to (3); grant select on measured_2 to svc_anonymous;
     create policy all_of_it on measured_2 using (true)`,
    "unexpected table public.measured_2 grant svc_anonymous",
    "unexpected table public.measured_2 policy all_of_it",
  ],
  ["create table measured_0 partition of measured default", "unexpected table public.measured_0 itself"],
  ["drop table vault", "missing sequence public.vault_id_seq itself", "missing table public.vault itself"],
  ["alter table notes add extra text", "unexpected table public.notes column extra"],
  ["alter table notes alter title drop not null", "differs table public.notes column title"],
  ["alter table notes alter done set default true", "differs table public.notes column done"],
  ["alter table notes alter priority type bigint", "differs table public.notes column priority"],
  ["alter table notes add check (priority < 9)", "unexpected table public.notes constraint notes_priority_check"],
  ["alter table posts drop constraint posts_user_id_fkey", "missing table public.posts constraint posts_user_id_fkey"],
  ["drop index notes_owner_newest", "missing table public.notes index notes_owner_newest"],
  ["alter table guestbook disable row level security", "differs table public.guestbook itself"],
  ["drop policy update_owner on notes", "missing table public.notes policy update_owner"],
  ["alter policy select_owner on notes using (true)", "differs table public.notes policy select_owner"],
  ["create policy all_mine on auth.session using (true)", "unexpected table auth.session policy all_mine"],
  ["alter policy select_anyone on posts to public", "differs table public.posts policy select_anyone"],
  ["grant truncate on notes to svc_authenticated", "differs table public.notes grant svc_authenticated"],
  ["grant select on announcements to svc_anonymous", "unexpected table public.announcements grant svc_anonymous"],
  ["grant update (title) on posts to svc_anonymous", "unexpected table public.posts grant svc_anonymous (update)"],
  ["grant usage on schema svc_private to svc_anonymous", "unexpected schema svc_private grant svc_anonymous"],
  ["grant create on schema public to public", "unexpected schema public grant public"],
  [
    "grant execute on function pg_catalog.set_config(text, text, boolean) to public",
    "differs PostgreSQL's own set_config(text,text,boolean) callers",
  ],
  [
    "grant execute on function pg_catalog.pg_read_file(text) to svc_request",
    "unexpected PostgreSQL's own pg_read_file(text) itself",
  ],
  [
    // As after an upgrade of the server to a version in which the function has other arguments.
    `set local allow_system_table_mods = on;
     update pg_proc set proacl = null where oid = 'pg_notify(text, text)'::regprocedure`,
    "missing PostgreSQL's own pg_notify(text,text) itself",
  ],
  ["grant temporary on database {database} to public", "differs database grant public"],
  [
    "alter default privileges for role svc_owner grant select on tables to svc_anonymous",
    "unexpected default privileges of svc_owner grant svc_anonymous on tables",
  ],
  [
    "create or replace function svc.current_user_id() returns text language sql stable as 'select null::text'",
    "differs function svc.current_user_id() definition",
  ],
  [
    "alter function svc_private.role_name(oid) security definer",
    "differs function svc_private.role_name(oid) definition",
  ],
  [
    "grant execute on function svc_private.list_facts() to svc_request",
    "differs function svc_private.list_facts() execute",
  ],
  ["create function by_hand() returns int language sql as 'select 1'", "unexpected function public.by_hand() itself"],
  ['alter table auth."user" disable trigger notify_change', 'differs table auth."user" trigger notify_change'],
  [
    "create trigger t before update on notes for each row execute function suppress_redundant_updates_trigger()",
    "unexpected table public.notes trigger t",
  ],
  ["create rule quiet as on delete to notes do instead nothing", "unexpected table public.notes rule quiet"],
  ["alter type mood add value 'cross'", "differs type public.mood definition"],
  ["create extension hstore", "unexpected extension hstore itself"],
  ["create extension pg_stat_statements schema extensions"], // as docs/how-to/observe.md says
  [
    "create or replace view svc_private.relations_of_mine as select 1 as one",
    "unexpected view svc_private.relations_of_mine itself",
  ],
  ["alter publication svc drop table notes", "missing publication svc table public.notes"],
  ["alter sequence notes_id_seq cycle", "differs sequence public.notes_id_seq range"],
  ["alter table notes replica identity full", "differs table public.notes itself"],
  ["comment on policy all_auth on auth.account is 'mine'", "differs table auth.account comment policy all_auth"],
  [
    "alter table announcements owner to svc_auth",
    "differs sequence public.announcements_id_seq itself",
    "differs table public.announcements itself",
  ],
];

/** A test file that migrates at the same time writes the server's roles too, and one of the two fails. */
async function plant(): Promise<void> {
  for (;;) {
    await admin.query("begin");
    try {
      for (const [sql] of planted) await admin.query(sql.replace("{database}", db.name));
      return;
    } catch (error) {
      await admin.query("rollback");
      if (!/tuple concurrently updated|deadlock detected/.test(String(error))) throw error;
    }
  }
}

test("a database that DATABASE_SCRATCH_URL names must be empty, and is so again", async () => {
  await expect(refuseUsed(db.url("admin"))).rejects.toThrow("is not empty");
  await expect(refuseUsed(scratch.url("admin"))).resolves.toBeUndefined();
});

test("every change by hand is told, and nothing else", async () => {
  await plant();
  try {
    const found = await readFacts(admin);
    const differences = compareFacts(expected, found);
    const partition = found.filter(({ object }) => object === "table public.measured_1");
    expect(compareFacts(partition, [])).toEqual([]); // a cron dropped it
    const told = differences.map(({ state, object, kind, part }) => [state, object, kind, part].join(" ").trim());
    const names = planted.flatMap(([, ...expected]) => expected).map((name) => name.replace("{database}", db.name));
    expect(told.toSorted()).toEqual(names.toSorted());
    for (const { remedy } of differences) expect(remedy).toMatch(/\w{3}/);
    expect(differences.map(({ remedy }) => remedy)).toEqual(
      expect.arrayContaining([
        "alter role svc_request reset search_path;",
        `alter role svc_system in database ${db.name} reset row_security;`,
        "revoke svc_anonymous from svc_replicator;",
      ]),
    );
  } finally {
    await admin.query("rollback");
  }
});

test("conditions that a restore has made again from their text are no difference, and other ones are", async () => {
  await admin.query("begin");
  try {
    const { rows } = await admin.query(
      `select format('alter table %1$s drop constraint %2$I, add constraint %2$I %3$s', k.conrelid::regclass, k.conname,
                     pg_get_constraintdef(k.oid)) as again
         from pg_constraint k where k.contype = 'c' and k.conparentid = 0 and k.conislocal and k.conrelid <> 0`,
    );
    for (const { again } of rows) await admin.query(again);
    expect(await readFacts(admin)).not.toEqual(expected);
    expect(compareFacts(expected, await readFacts(admin))).toEqual([]);
  } finally {
    await admin.query("rollback");
  }
  const differ = (one: string, other: string, kind = "constraint") => {
    const fact = (definition: string): Fact => ({ object: "table t", kind, part: "c", definition });
    return compareFacts([fact(one)], [fact(other)]).length > 0;
  };
  expect(differ("CHECK (((a AND b) AND (NOT (c OR (d OR e)))))", "CHECK ((a AND b AND (NOT (c OR d OR e))))")).toBe(
    false,
  );
  const body = (text: string) => ` LANGUAGE sql\nAS $function$ select a AND (select c where d AND e${text} $function$`;
  for (const [one, other, kind] of [
    ["CHECK (((a AND b) OR c))", "CHECK ((a AND (b OR c)))"],
    ["CHECK (((NOT (a AND b)) AND c))", "CHECK (((NOT a) AND b AND c))"],
    ["CHECK ((f((a AND b)) AND c))", "CHECK ((f(a) AND b AND c))"],
    ["CHECK (((a = '(b AND c)'::text) AND d))", "CHECK (((a = 'b AND c'::text) AND d))"],
    ["what they don't see", "what they dont see", "comment"],
    [body(") AND f"), body(" AND f)"), "definition"],
  ] as const)
    expect(differ(one, other, kind), one).toBe(true);
});

test("policies and types of a schema with capital letters have their names", async () => {
  await admin.query("begin");
  try {
    await admin.query(`create schema "Sales"; create type "Sales"."Mood" as enum ('glad'); create table "Sales"."Order" (id int);
      create policy "All of it" on "Sales"."Order" using (true)`);
    const told = (await readFacts(admin)).map(({ object, kind, part }) => [object, kind, part].join(" ").trim());
    expect(told).toContain('table "Sales"."Order" policy "All of it"');
    expect(told).toContain('type "Sales"."Mood" definition');
  } finally {
    await admin.query("rollback");
  }
});

test("tables that became searchable in another order are no difference", async () => {
  const install = (wanted: string) => admin.query("select svc_private.install_search($1, 'application')", [wanted]);
  await admin.query("begin");
  try {
    const { rows } = await admin.query(
      "select jsonb_agg(definition order by id desc)::text as wanted from svc_private.search_tables where declared_by = 'application'",
    );
    expect(rows[0].wanted).toContain("pages");
    await install("[]");
    await install(rows[0].wanted);
    expect(compareFacts(expected, await readFacts(admin))).toEqual([]);
  } finally {
    await admin.query("rollback");
  }
});

test("what somebody gave to a role is not expected, although the empty database has the same roles", async () => {
  const facts: [kind: string, part: string][] = [
    ["itself", ""],
    ["member of", "svc_anonymous"],
    ["member of", "svc_owner"],
    ["setting", "jit"],
    ["setting", "search_path"],
  ];
  const described = facts.map(([kind, part]) => ({ object: "role svc_request", kind, part, definition: "" }));
  const kept = await withoutRolesByHand(described, root);
  expect(kept.map(({ kind, part }) => `${kind} ${part}`.trim())).toEqual([
    "itself",
    "member of svc_anonymous",
    "setting jit",
  ]);
});

/** Those of this process: other test files have theirs for a moment. */
const scratches = async () => {
  const text = `select datname::text as name from pg_database where starts_with(datname, 'svc_scratch_${process.pid}_')`;
  return (await db.sql(text)).map(({ name }) => name);
};

test("no database is left when the real one cannot be read", async () => {
  const others = await scratches();
  const files = { adminUrl: scratch.url("admin"), platform: root, application: fixture, scratchUrl: null };
  await expect(findDrift(files)).rejects.toThrow("svc_private");
  await sleep(500); // one that was being created is there by now
  expect(await scratches()).toEqual(others);
});

test("a temporary database is dropped although the server ends idle sessions", async () => {
  await maintain(db.url("admin"), `alter database ${db.name} set idle_session_timeout = '200ms'`);
  try {
    const name = await withScratchDatabase(db.url("admin"), null, async (url) => {
      await sleep(1_000);
      return new URL(url).pathname.slice(1);
    });
    expect(await scratches()).not.toContain(name);
  } finally {
    await maintain(db.url("admin"), `alter database ${db.name} reset idle_session_timeout`);
  }
});

test("the command says what differs and how to mend it, which `svc migrate --again` does", async () => {
  await db.sql("alter policy all_auth on auth.account using (false)");
  const others = await scratches(); // of a run that was killed and had the same process id
  const { code, out, error } = await svcHere(db, fixture, ["db", "drift"]);
  expect([code, out, error]).toEqual([
    1,
    `differs  policy all_auth of table auth.account
  expected: for all to svc_auth using true with check true
  found:    for all to svc_auth using false with check true
  \`svc migrate --again\` restores it.
`,
    expect.stringMatching(/^0 missing, 0 unexpected, 1 changed\.$/m),
  ]);
  expect(await scratches()).toEqual(others);

  expect((await svcHere(db, fixture, ["migrate", "--again"])).code).toBe(0);
  const clean = await svcHere(db, fixture, ["db", "drift", "--json"]);
  expect([clean.code, JSON.parse(clean.out), clean.error]).toEqual([0, [], expect.stringContaining("No drift")]);
});
