// If this file fails, somebody whose migration failed is not told where, or how to go on.
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { migrationFailed } from "../../src/migrate/migration-error.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("platform");
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-app-"));
  await cp(join(root, "tests/fixture"), folder, { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

const policy = "create policy own on ok for select\n  using (id in (select id from oks));\n";

test.for<[what: string, file: string, text: string, message: RegExp]>([
  [
    "an error in a policy, of which PostgreSQL gives no position",
    "migrations/0009_wrong.sql",
    `create table ok (id int);\n${policy}`,
    /^migrations\/0009_wrong.sql:3: relation "oks" does not exist\n {4}using \(id in \(select id from oks\)\);/,
  ],
  [
    "a column in a policy whose name PostgreSQL has folded, and does not quote",
    "migrations/0009_wrong.sql",
    "create table ok (id int, file_id int);\ncreate policy own on ok for select\n  using (exists (select from ok as o where o.fileId = 1));\n",
    /^migrations\/0009_wrong.sql:3: column o.fileid does not exist\n {4}using \(exists/,
  ],
  [
    "a function in a policy",
    "migrations/0009_wrong.sql",
    "create table ok (id int);\ncreate policy own on ok for select\n  using (is_mine(id));\n",
    /^migrations\/0009_wrong.sql:3: function is_mine\(integer\) does not exist\n {4}using \(is_mine\(id\)\);/,
  ],
  [
    "a COMMIT, after which the rest would run as the administrator",
    "migrations/0009_wrong.sql",
    "begin;\n-- commit;\ncreate table ok (id int default ';commit'::text::int);\n  Commit;\nselect 1/0;\n",
    /^migrations\/0009_wrong.sql:4: COMMIT in a migration\n {2}Leave out BEGIN, COMMIT, END and ROLLBACK/,
  ],
  [
    "an END, which is the same, behind one that ends a function",
    "migrations/0009_wrong.sql",
    "begin;\ncreate function ok() returns int begin atomic select 1; end;\nEnd;\nselect 1/0;\n",
    /^migrations\/0009_wrong.sql:3: END in a migration\n/,
  ],
  [
    "a COMMIT behind a comment in a comment, and one that a name with dollars seems to quote",
    "migrations/0009_wrong.sql",
    "/* /* */ ' */ create table größe$a$ (id int);\ncommit; -- $a$ '\nselect 1/0;\n",
    /^migrations\/0009_wrong.sql:2: COMMIT in a migration\n/,
  ],
  [
    "an error behind emojis, which are two units of a string",
    "migrations/0009_wrong.sql",
    `-- ${"🎉".repeat(40)}\n\n\nselect 1;\nselect nothing;\n`,
    /^migrations\/0009_wrong.sql:5: column "nothing" does not exist\n {4}select nothing;/,
  ],
  [
    "rows that a deferred constraint refuses",
    "migrations/0009_wrong.sql",
    "create table ok (id int primary key, above int references ok deferrable initially deferred);\ninsert into ok values (1, 2);\n",
    /^A deferred constraint refuses rows of the new migrations: insert or update on table "ok" violates/,
  ],
  [
    "a function of Supabase",
    "migrations/0009_wrong.sql",
    "create table ok (id text); create policy own on ok using (auth.uid() = id);\n",
    /0009_wrong.sql:1: function auth.uid\(\) does not exist\n {4}create table ok .*\n {2}Supabase has this function. Here, svc.current_user_id\(\) is the caller's id, a text; in policies, write \(select svc.current_user_id\(\)\)\./,
  ],
  [
    "a role of Supabase",
    "migrations/0009_wrong.sql",
    "create table ok (id text);\ngrant select on ok to authenticated;\n",
    /0009_wrong.sql:2: role "authenticated" does not exist\n.*\n {2}Supabase has this role. Here, requests run as svc_anonymous/,
  ],
  [
    "a command of psql, after a byte order mark",
    "migrations/0009_wrong.sql",
    "\uFEFFcreate table ok (id text);\n\\i other.sql\n",
    /0009_wrong.sql:2: syntax error at or near "\\"\n.*\n {2}Commands of psql, such as/,
  ],
  [
    "a role that migrations may not create",
    "migrations/0009_wrong.sql",
    "create role reporting;\n",
    /permission denied to create role\n {2}Migrations run as svc_owner. An administrator runs this/,
  ],
  [
    "an index that is created concurrently",
    "migrations/0009_wrong.sql",
    "create table ok (id text);\ncreate index concurrently ok_id on ok (id);\n",
    /cannot run inside a transaction block\n {2}.*Create the index by hand first/,
  ],
  [
    "a conversion that PostgreSQL does not have",
    "migrations/0009_wrong.sql",
    "create table ok (id int);\nalter table ok alter column id type uuid using id::uuid;\n",
    /0009_wrong.sql:2: cannot cast type integer to uuid\n.*\n {2}PostgreSQL has no conversion between these types. Write after USING/,
  ],
  [
    "an operator that does not exist, which no function of sql/ would help",
    "migrations/0009_wrong.sql",
    "create table ok (id int);\nselect from ok where id = 'a'::text;\n",
    /operator does not exist: integer = text\n.*\n {2}No operator matches/,
  ],
  [
    "a column that something depends on",
    "migrations/0009_wrong.sql",
    "create table ok (id int, twice int generated always as (id * 2) stored);\nalter table ok alter column id type text;\n",
    /cannot alter type of a column used by a generated column\n {4}Column "id" is used by generated column "twice"./,
  ],
  [
    "a language that searchable names and the database has not",
    "sql/search.sql",
    "select to_tsvector('englisch', 'x');\n",
    /"englisch" does not exist\n.*\n {2}A language of searchable/,
  ],
  [
    "a generated file that is older than the schema",
    "sql/search.sql",
    "-- Generated by `svc codegen`.\nselect from gone;\n",
    /"gone" does not exist\n.*\n {2}`svc codegen` wrote this file from another schema/,
  ],
  [
    "a function of sql/ with a misspelt keyword, which a policy would run into",
    "sql/wrong.sql",
    "create function public.wrong() returns integer\nlanguage sql as $$\n  selct 1\n$$;\n",
    /^sql\/wrong.sql:3: syntax error at or near "selct"\n {4}selct 1/,
  ],
  [
    "a function that names a column that does not exist",
    "sql/wrong.sql",
    "create function public.wrong() returns setof integer\nlanguage sql set search_path = '' as $$\n  select 1\n    from tasks\n$$;\n",
    /^sql\/wrong.sql:4: relation "tasks" does not exist\n {4}from tasks/,
  ],
  [
    "a function behind emojis that reads a table that is not there",
    "sql/wrong.sql",
    `-- ${"🎉".repeat(40)}\n\n\ncreate function public.wrong() returns int language sql\nas $$\n  select 1 from nothing\n$$;\n\n\n\n`,
    /^sql\/wrong.sql:6: relation "nothing" does not exist\n {4}select 1 from nothing/,
  ],
  [
    "a function in PL/pgSQL without a semicolon",
    "sql/wrong.sql",
    "create function public.wrong() returns trigger\nlanguage plpgsql as $$\nbegin\n  new.a := 1\n  return new;\nend\n$$;\n",
    /^sql\/wrong.sql:5: syntax error at or near "new"\n {4}return new;/,
  ],
])("%s", async ([, file, text, message]) => {
  await writeFile(join(folder, file), text);
  const attempt = migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
  await expect(attempt.finally(() => rm(join(folder, file)))).rejects.toThrow(message);
});

test("a file at which the server was lost names what to do, and no class of the driver", () => {
  for (const text of [
    "Connection terminated unexpectedly",
    "Client has encountered a connection error and is not queryable",
  ])
    expect(migrationFailed("sql/search.sql", "", new Error(text)).message).toBe(
      `sql/search.sql: ${text}\n  The connection to PostgreSQL was lost. Run \`svc migrate\` again: it applies what is missing.`,
    );
});

test("a function of a migration may have lost what it read to a later migration: a fresh database gets both at once", async () => {
  const files = {
    "migrations/0009_older.sql":
      "create table old (a int);\ncreate function public.older() returns setof int language sql as 'select a from old';\n",
    "migrations/0010_newer.sql": "drop table old;\n",
  };
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  const applied = await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
  expect(applied).toEqual(expect.arrayContaining(Object.keys(files).map((file) => `application/${file}`)));
});

test("a secured partition still shows what the policies of its table allow", async () => {
  await db.sql(`set local role svc_owner; create table measured (at int primary key) partition by range (at);
    create table measured_1 partition of measured for values from (1) to (2)`);
  const lines: string[] = [];
  const report = (line: string) => void lines.push(line);
  await migrate({ adminUrl: db.url("admin"), platform: root, application: folder, report });
  await db.sql("drop table measured");
  expect(lines.filter((line) => /measured/.test(line))).toEqual([
    "secured measured: it had no row-level security, and now denies all access until it has a policy",
    "secured measured_1: it had no row-level security, and now denies all access except through its table",
  ]);
});

test("a warning of a file is reported, and a notice is not", async () => {
  const [file, lines] = [join(folder, "sql/warns.sql"), [] as string[]];
  // The second one is a notice of PostgreSQL: the table exists.
  const text =
    "do $$ begin raise warning 'something is left out'; end $$;\ncreate table if not exists public.notes ();\n";
  await writeFile(file, text);
  const report = (line: string) => void lines.push(line);
  await migrate({ adminUrl: db.url("admin"), platform: root, application: folder, report });
  await rm(file);
  expect(lines.filter((line) => !/^(applied|secured) /.test(line))).toEqual(["warning: something is left out"]);
});

test("what only looks like COMMIT is applied: in bodies, texts, names and comments, and ROLLBACK TO", async () => {
  const file = join(folder, "migrations/0011_right.sql");
  const text = `/* /* ; */ commit; */ create table kept ("; commit" text default 'it''s; commit; e' || E'it\\'s; commit;');
    create procedure kept_procedure() language plpgsql as $body$ begin perform '$$'; commit; end $body$;
    create or replace procedure kept_procedure() language plpgsql as $größe$ begin perform '$$'; commit; end $größe$;
    create function kept_function() returns integer begin atomic select case when true then 1 end; end;
    create table kept_rows (id int primary key, above int references kept_rows deferrable initially deferred);
    insert into kept_rows values (1, 2), (2, null);
    savepoint here; rollback to savepoint here; drop table kept; drop procedure kept_procedure; drop function kept_function;`;
  await writeFile(file, text);
  const applied = await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
  expect(applied).toContain("application/migrations/0011_right.sql");
});
