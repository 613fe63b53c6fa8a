// If this file fails, an operator deploys without knowing what the database lacks, or loses a database by mistake.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyApplication } from "../support/application-folder.ts";
import { svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

// The platform and the fixture are applied.
const db = database();
let app: string;

beforeAll(async () => {
  app = await copyApplication("tests/fixture");
});
afterAll(() => rm(app, { recursive: true, force: true }));

const migrate = (args: string[], env: NodeJS.ProcessEnv = {}) => svcHere(db, app, ["migrate", ...args], env);

/** The lines of a table that are not `applied`. */
const open = (table: string) =>
  table
    .trimEnd()
    .split("\n")
    .slice(1)
    .filter((line) => !line.startsWith("applied"));

const production = { NODE_ENV: "production" };

const migration = async () => {
  const [file = ""] = (await readdir(join(app, "migrations"))).filter((name) => name.endsWith(".sql")).sort();
  return { path: join(app, "migrations", file), name: `application/migrations/${file}` };
};

describe("svc migrate status", () => {
  test("lists every file with its time, in plain text, and ends with 0 when all is applied", async () => {
    const { code, out, error } = await migrate(["status", "--verbose"]);
    expect(code, out + error).toBe(0);
    expect(open(out)).toEqual([]);
    expect(out).toMatch(/^applied {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}platform\/migrations\/0001_create_ledger.sql$/m);
    expect(out).toContain((await migration()).name);
    expect(out).not.toContain("\u001b");
    expect(error).toContain("Everything is applied");

    const short = await migrate(["status"]);
    expect(short.out).toContain((await migration()).name);
    expect(short.out).not.toContain("platform/");
    expect(short.error).toMatch(/Not listed: \d+ applied files of the platform; --verbose lists them\./);

    const listed = JSON.parse((await migrate(["status", "--json"])).out) as { path: string; state: string }[];
    expect(listed[0]).toMatchObject({ state: "applied", path: expect.stringMatching(/^application\//) });
    expect(listed.some(({ path }) => path.startsWith("platform/"))).toBe(true);
  });

  test("lists what is pending, changes nothing, and ends with 1", async () => {
    const added = join(app, "migrations/9000_later.sql");
    await writeFile(added, "create table public.later (id int);");
    const { code, out } = await migrate(["status"]);
    expect(code).toBe(1);
    expect(open(out)).toEqual([`pending  ${"-".padEnd(19)}  application/migrations/9000_later.sql`]);
    expect(await db.sql("select to_regclass('public.later') as found")).toEqual([{ found: null }]);
    await rm(added);
  });

  test("a file of sql/ with another text is pending, a migration with another text is edited", async () => {
    const { path, name } = await migration();
    const crud = join(app, "sql/crud/notes.sql");
    const texts = [await readFile(path, "utf8"), await readFile(crud, "utf8")] as const;
    await writeFile(path, `${texts[0]}\n`);
    await writeFile(crud, `${texts[1]}\n`);
    const { code, out, error } = await migrate(["status"]);
    expect(code).toBe(1);
    expect(open(out).map((line) => line.replace(/ {2}\d{4}.{15} {2}/, " "))).toEqual([
      `edited  ${name}`,
      "pending application/sql/crud/notes.sql",
    ]);
    expect(error).toContain("1 edited. Restore their text");
    await writeFile(path, texts[0]);
    await writeFile(crud, texts[1]);
  });

  test("names a migration that was applied and whose file is gone", async () => {
    const { path, name } = await migration();
    const text = await readFile(path, "utf8");
    await rm(path);
    const { code, out } = await migrate(["status"]);
    expect(code).toBe(1);
    expect(open(out)).toEqual([expect.stringMatching(new RegExp(`^missing .* ${name}$`))]);
    await writeFile(path, text);
  });

  test("does not advise what production refuses: to migrate what newer files have migrated", async () => {
    const { path } = await migration();
    const text = await readFile(path, "utf8");
    const added = join(app, "migrations/9001_waits.sql");
    await rm(path);
    await writeFile(added, "select 1;");
    expect((await migrate(["status"])).error).toContain("1 pending. Run `svc migrate`.");
    expect((await migrate(["status"], production)).error).toContain("`svc migrate` refuses these");
    expect((await migrate([], production)).error).toContain("Newer files than these have migrated");
    await rm(added);
    await writeFile(path, text);
  });

  test("does not advise it either where a newer version of svc differs in functions alone", async () => {
    const name = "scope = 'platform' and path = 'catalog/list_access_rules.sql'";
    await db.sql(`update svc_private.applied_sql set earlier = array[checksum], checksum = 'newer' where ${name}`);
    expect((await migrate(["status"])).error).toContain("1 pending. Run `svc migrate`.");
    expect((await migrate(["status"], production)).error).toContain("`svc migrate` refuses these");
    expect((await migrate([], production)).error).toContain("Newer files than these have migrated");
    await db.sql(`update svc_private.applied_sql set checksum = earlier[1], earlier = '{}' where ${name}`);
  });

  test("tells what a branch took away in the same words as prepare, doctor, drift and generate do", async () => {
    const added = join(app, "migrations/9000_of_a_branch.sql");
    await writeFile(added, "create table public.of_a_branch (id int);");
    expect((await migrate([])).code).toBe(0);
    await rm(added);
    const words =
      "This database has a migration whose file is gone: migrations/9000_of_a_branch.sql.\n" +
      "  Another branch has the file, or it was deleted. Bring it back";
    for (const [args, code] of [
      [["migrate", "status"], 1],
      [["doctor"], 1],
      [["db", "drift"], 1],
      [["migrate", "generate", "--baseline"], 0],
      [["prepare"], 0],
    ] as const) {
      const ended = await svcHere(db, app, args);
      const output = (ended.out + ended.error).replaceAll("\n        ", "\n");
      expect(output, args.join(" ")).toContain(words);
      expect(ended.code, output).toBe(code);
    }
    await db.sql("delete from svc_private.applied_migrations where name = '9000_of_a_branch.sql'");
    await rm(join(app, "migrations/meta"), { recursive: true });
  });

  test("names the queue where its schema is of an older revision", async () => {
    const [latest] = await db.sql(
      "delete from graphile_worker.migrations where id = (select max(id) from graphile_worker.migrations) returning *",
    );
    const { code, out } = await migrate(["status"]);
    expect(code).toBe(1);
    expect(open(out)).toEqual([`pending  ${"-".padEnd(19)}  platform/queue`]);
    await db.sql("insert into graphile_worker.migrations select $1::int, $2::timestamptz, $3::boolean", [
      latest?.id,
      latest?.ts,
      latest?.breaking,
    ]);
  });
});

test("svc migrate counts the platform's functions that it applies, and names the application's files", async () => {
  const { code, out, error } = await migrate(["--again"]);
  expect(code, out + error).toBe(0);
  expect(error + out).toMatch(/^applied \d+ files of platform\/sql$/m);
  expect(error + out).not.toContain("applied platform/sql/");
  expect(error + out).toContain("applied application/sql/");
});

describe("svc migrate reset", () => {
  const rows = () => db.sql("select count(*)::int as count from public.guestbook");

  beforeAll(async () => {
    await db.sql("insert into public.guestbook (message) values ('kept')");
    await db.sql("create schema extra authorization svc_owner");
    await db.sql("create table extra.thing (id int)");
  });

  test.each([
    ["where DATABASE_URL is set", ["--yes"], {}, "DATABASE_URL names a server that others may use"],
    ["with --force, but no name", ["--yes", "--force"], {}, "DATABASE_URL names a server"],
    [
      "with the name of another database",
      ["--yes", "--force", "--database", "other"],
      {},
      "not other. Nothing was done",
    ],
    ["in production", ["--yes"], { NODE_ENV: "production", AUTHLIB_SECRET: "x".repeat(40) }, "Nothing was done"],
    ["with nobody to ask", ["--force", "--database", "any"], {}, "There is no terminal for the confirmation."],
  ])("refuses %s", async (_where, args, env, words) => {
    const { code, error } = await migrate(["reset", ...args], env);
    expect(code).toBe(1);
    expect(error).toContain(words);
    expect(await rows()).toEqual([{ count: 1 }]);
  });

  test("empties the database that is named, and migrates it again", async () => {
    await db.sql(`set local role svc_owner;
      create collation own (locale = 'C'); create operator === (leftarg = int, rightarg = int, function = int4eq);
      create text search dictionary own (template = simple); create text search configuration own (copy = simple);
      create conversion own for 'latin1' to 'utf8' from iso8859_1_to_utf8;
      create type "Own kind" as enum ('a'); create domain "Own word" as text; create type "Own pair" as (a int, b int);
      create type "Own span" as range (subtype = int); create sequence "Own numbers";
      create table "Own rows" (id int generated always as identity, n int default nextval('"Own numbers"'), k "Own kind")
        partition by list (n);
      create view "Own view" as select * from "Own rows"; create materialized view "Own copy" as select * from "Own view";
      create function "Own answer"("Own kind", "Own rows") returns "Own word" language sql return 'x';
      create procedure "Own act"(out a int) language sql as 'select 1';
      create aggregate "Own sum"(*) (sfunc = int8inc, stype = bigint, initcond = '0')`);
    const reset = () => migrate(["reset", "--yes", "--force", "--database", db.name]);
    let { code, error } = await reset();
    // Roles belong to the whole server: another test run may apply sql/roles.sql at the same time.
    if (error.includes("tuple concurrently updated")) ({ code, error } = await reset());
    expect(code, error).toBe(0);
    expect(await rows()).toEqual([{ count: 0 }]);
    expect(await db.sql("select to_regnamespace('extra') as found")).toEqual([{ found: null }]);
    const others = ["collation:coll", "operator:opr", "ts_dict:dict", "ts_config:cfg", "conversion:con"];
    for (const [catalog, prefix] of others.map((one) => one.split(":"))) {
      const left = `select from pg_${catalog} where ${prefix}owner = 'svc_owner'::regrole`;
      expect(await db.sql(`${left} and ${prefix}namespace = 'public'::regnamespace`), catalog).toEqual([]);
    }
    const named = "select relname from pg_class union select proname from pg_proc union select typname from pg_type";
    expect(await db.sql(`select * from (${named}) x where relname like 'Own%'`)).toEqual([]);
    expect((await migrate(["status"])).code).toBe(0);
  });
});
