// If this file fails, a deployment can leave a database half changed, or silently not changed at all.
import { fork } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { dumpSchema } from "../../src/migrate/dump.ts";
import { checksum, compareFiles } from "../../src/migrate/ledger.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { execute } from "../support/admin.ts";
import { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const opened: { close(): Promise<unknown> }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((thing) => thing.close())));

/** @param template "template1" gives an empty database, "platform" one without an application, a name a copy */
async function create(template: string): Promise<string> {
  const db = new Database();
  await db.create(template);
  opened.push({ close: () => db.drop() });
  return db.url("admin");
}
const empty = () => create("template1");

/** A copy of the fixture application that a test may change. */
async function application(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-app-"));
  await cp(join(root, "tests/fixture"), folder, { recursive: true });
  opened.push({ close: () => rm(folder, { recursive: true }) });
  return folder;
}

/** A copy of svc's files with a function that differs from the one that is installed. */
const edited = "sql/catalog/list_access_rules.sql";
async function newerPlatform(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-newer-"));
  opened.push({ close: () => rm(folder, { recursive: true }) });
  for (const part of ["migrations", "sql"]) await cp(join(root, part), join(folder, part), { recursive: true });
  await writeFile(join(folder, edited), `${await readFile(join(root, edited), "utf8")}\n-- Newer.\n`);
  return folder;
}

const rows = async (url: string, text: string) => (await execute(url, text))[0]?.rows;

describe("migrate", () => {
  test("applied twice changes nothing", async () => {
    const adminUrl = await empty();
    const target = { adminUrl, platform: root, application: join(root, "tests/fixture") };
    const lines: string[] = [];
    const first = await migrate({ ...target, report: (line) => lines.push(line) });
    const dump = await dumpSchema(adminUrl);

    expect(lines.filter((line) => line.startsWith("secured svc"))).toEqual([]); // one of ours forgot it
    expect(first).toContain("application/migrations/0001_create_fixture.sql");
    expect(await migrate(target)).toEqual([]);
    expect((await compareFiles(target)).pending).toEqual([]);
    expect(await dumpSchema(adminUrl)).toBe(dump);
  });

  // Upgrades start from a release, mostly from a late one. The next test begins in the middle; FUZZ_RUNS tries every
  // earlier state.
  test("leads to the committed dump, as a fresh install and from any prefix of the migrations", {
    timeout: 300_000,
  }, async () => {
    expect(inject("serverVersion")).toMatch(/^1[5-9]\./);
    const wanted = await readFile(join(root, "sql/schema.dump.sql"), "utf8");
    const { length } = await readdir(join(root, "migrations"));
    expect(await dumpSchema(await create("platform")), "installed before the tests").toBe(wanted);

    const earlier = await empty();
    for (let prefix = process.env.FUZZ_RUNS ? 1 : length - 2; prefix < length; prefix++) {
      await migrate({ adminUrl: earlier, platform: root, platformMigrations: prefix });
      const adminUrl = await create(new URL(earlier).pathname.slice(1));
      await migrate({ adminUrl, platform: root });
      expect(await dumpSchema(adminUrl), `upgraded from ${prefix} migrations`).toBe(wanted);
    }
  });

  test("an upgrade removes the helpers that svc_hidden has from svc", async () => {
    const adminUrl = await empty();
    const migrations = (await readdir(join(root, "migrations"))).sort();
    await migrate({ adminUrl, platform: root, platformMigrations: migrations.indexOf("0036_hide_helpers.sql") });
    const dropped = await readFile(join(root, "migrations/0036_hide_helpers.sql"), "utf8");
    const earlier = [...dropped.matchAll(/^drop function if exists (.+);$/gm)].map(([, signature]) => signature);
    const create = (signature?: string) =>
      `create function ${signature} returns text language sql as 'select null::text';
       grant execute on function ${signature} to svc_authenticated;`;
    await execute(adminUrl, `set role svc_owner; ${earlier.map(create).join("\n")}`);
    await migrate({ adminUrl, platform: root });

    const namesIn = async (schema: string) =>
      (await rows(adminUrl, `select proname as name from pg_proc where pronamespace = '${schema}'::regnamespace`))?.map(
        ({ name }) => name as string,
      ) ?? [];
    const [api, helpers] = [await namesIn("svc"), await namesIn("svc_hidden")];
    expect(earlier.length).toBeGreaterThan(20);
    for (const signature of earlier) expect(api).not.toContain(signature?.match(/svc\.(\w+)/)?.[1]);
    expect(api.filter((name) => helpers.includes(name))).toEqual([]);
    expect(api).toContain("find_rows");
    expect(await dumpSchema(adminUrl)).toBe(await readFile(join(root, "sql/schema.dump.sql"), "utf8"));
  });

  test("two at once, beside others on databases that share the roles: one works, the other finds nothing to do", async () => {
    const [twice, ...others] = [await empty(), await create("platform"), await create("platform")];
    const target = { platform: root, application: join(root, "tests/fixture") };
    const both = [twice, twice].map((adminUrl) => migrate({ ...target, adminUrl }));
    const beside = others.map((adminUrl) => migrate({ ...target, adminUrl, again: true }));
    const [one = [], other = [], ...alone] = await Promise.all([...both, ...beside]);
    expect([one.length > 0, other.length > 0].sort()).toEqual([false, true]);
    for (const files of [[...one, ...other], ...alone]) expect(files).toContain("platform/sql/roles.sql");
  });

  test("killed in the middle leaves the previous state", async () => {
    const adminUrl = await create("platform");
    const before = await dumpSchema(adminUrl);
    const folder = await application();
    await writeFile(join(folder, "migrations/0009_slow.sql"), "create table slow (id int); select pg_sleep(60);");

    const child = fork(join(root, "tests/support/migrate-child.ts"), [adminUrl, root, folder], { stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const busy =
      "select 1 from pg_stat_activity where datname = current_database() and query like '%pg_sleep(60)%' and application_name = 'svc migrate'";
    await expect.poll(() => rows(adminUrl, busy)).toHaveLength(1);
    child.kill("SIGKILL");
    await ended;
    // The server ends the statement, and does not hold the tables until the end of it.
    await expect.poll(() => rows(adminUrl, busy), { timeout: 30_000 }).toHaveLength(0);
    expect(
      await rows(adminUrl, "select to_regclass('public.notes') as notes, to_regclass('public.slow') as slow"),
    ).toEqual([{ notes: null, slow: null }]);
    expect(await dumpSchema(adminUrl)).toBe(before);
  });

  test("an error in the last file undoes the first, and says where it is", async () => {
    const adminUrl = await create("platform");
    const [platform, folder] = [await newerPlatform(), await application()];
    await writeFile(join(folder, "migrations/0009_wrong.sql"), "create table ok (id int);\n\nselect nonsense;\n");

    await expect(migrate({ adminUrl, platform, application: folder })).rejects.toThrow(
      'migrations/0009_wrong.sql:3: column "nonsense" does not exist\n    select nonsense;',
    );
    // The application's scope failed: the platform's transaction was committed before.
    expect(await rows(adminUrl, "select 1 from pg_class where relname = 'notes' and relkind = 'r'")).toEqual([]);
    expect(await rows(adminUrl, "select 1 from svc_private.applied_migrations where scope = 'application'")).toEqual(
      [],
    );
    expect((await compareFiles({ adminUrl, platform })).pending).toEqual([]);
  });

  test("a migration edited after it was applied is refused by name", async () => {
    const adminUrl = await create("platform");
    const folder = await application();
    await migrate({ adminUrl, platform: root, application: folder });
    await writeFile(join(folder, "migrations/0001_create_fixture.sql"), "select 1;");
    await expect(migrate({ adminUrl, platform: root, application: folder })).rejects.toThrow(
      /0001_create_fixture\.sql was edited after it had been applied/,
    );
  });

  test("two new migrations of one number are refused, also beside one that was applied; two that were are not", async () => {
    const adminUrl = await create("platform");
    const folder = await application();
    const target = { adminUrl, platform: root, application: folder };
    await migrate(target);
    await writeFile(join(folder, "migrations/0001_twin.sql"), "create table public.twin (id int);");
    await expect(migrate(target)).rejects.toThrow(
      /migrations\/0001_create_fixture\.sql and migrations\/0001_twin\.sql have the same number\.\n {2}Rename .* such as to \d{4}_twin\.sql\./,
    );
    expect(await rows(adminUrl, "select to_regclass('public.twin') as found")).toEqual([{ found: null }]);

    await execute(
      adminUrl,
      `insert into svc_private.applied_migrations (scope, name, checksum)
       values ('application', '0001_twin.sql', '${checksum("create table public.twin (id int);")}')`,
    );
    expect(await migrate(target)).toEqual([]);
  });

  test("a policy removed from its file is removed from the database", async () => {
    const adminUrl = await create("platform");
    const folder = await application();
    const file = join(folder, "sql/policies/public.vault.sql");
    await mkdir(join(folder, "sql/policies"), { recursive: true });
    await writeFile(
      file,
      "create policy a on public.vault using (true);\ngrant select on public.vault to svc_anonymous;\n",
    );
    await migrate({ adminUrl, platform: root, application: folder });
    await writeFile(file, "create policy b on public.vault using (false);\n");
    await migrate({ adminUrl, platform: root, application: folder });

    expect(await rows(adminUrl, "select polname from pg_policy where polrelid = 'public.vault'::regclass")).toEqual([
      { polname: "b" },
    ]);
    expect(
      await rows(adminUrl, "select has_table_privilege('svc_anonymous', 'public.vault', 'select') as may"),
    ).toEqual([{ may: false }]);
  });

  test("newer files are known to older ones, which may be started on and not applied by mistake", async () => {
    const adminUrl = await create("platform");
    const [older, newer] = [await application(), await application()];
    const functionOf = (answer: number) =>
      `create or replace function public.answer() returns int language sql return ${answer};`;
    await mkdir(join(older, "sql"), { recursive: true });
    for (const [folder, answer] of [
      [older, 1],
      [newer, 2],
    ] as const) {
      await writeFile(join(folder, "sql/answer.sql"), functionOf(answer));
    }
    await writeFile(join(newer, "migrations/0009_newer.sql"), "create table newer (id int);");
    const at = (folder: string) => ({ adminUrl, platform: root, application: folder });
    await migrate(at(older));
    expect(await compareFiles(at(newer))).toEqual({
      pending: ["application/migrations/0009_newer.sql", "application/sql/answer.sql"],
      newer: [],
    });
    await migrate(at(newer));
    expect(await compareFiles(at(older))).toEqual({
      pending: [],
      newer: ["application/migrations/0009_newer.sql", "application/sql/answer.sql"],
    });

    await expect(migrate({ ...at(older), refuseNewer: true })).rejects.toThrow(
      /^Newer files than these have migrated this database:\n {2}application\/migrations\/0009_newer\.sql/,
    );
    expect(await rows(adminUrl, "select public.answer()")).toEqual([{ answer: 2 }]);
    // Applies the older files on purpose: the database now lacks the newer ones.
    await migrate(at(older));
    expect(await rows(adminUrl, "select public.answer()")).toEqual([{ answer: 1 }]);
    expect((await compareFiles(at(newer))).pending).toEqual(["application/sql/answer.sql"]);
  });

  test("a version of svc that differs in functions alone is known as newer, too", async () => {
    const adminUrl = await create("platform");
    const newer = await newerPlatform();
    expect(await migrate({ adminUrl, platform: newer, refuseNewer: true })).toEqual([`platform/${edited}`]);
    const older = { adminUrl, platform: root };
    const named = new RegExp(`\n {2}platform/${edited}$`, "m");
    await expect(migrate({ ...older, refuseNewer: true })).rejects.toThrow(named);
    expect(await migrate(older)).toEqual([`platform/${edited}`]);
  });

  test("generated functions that no file writes any more are dropped, and come back with their file", async () => {
    const adminUrl = await create("platform");
    const folder = await application();
    const target = { adminUrl, platform: root, application: folder };
    await migrate(target);
    const functions = async () =>
      (
        await rows(
          adminUrl,
          "select oid::regprocedure::text as name from pg_proc where pronamespace = 'svc_crud'::regnamespace",
        )
      )
        ?.map(({ name }) => name as string)
        .sort() ?? [];
    const all = await functions();

    // A removed resource; an overload from when an id was a text, with the mark of that time; a function of the author.
    const file = join(folder, "sql/crud/notes.sql");
    const text = await readFile(file, "utf8");
    await rm(file);
    await execute(
      adminUrl,
      `set role svc_owner;
       create function svc_crud.posts_get(row_id text) returns json language sql as 'select null::json';
       comment on function svc_crud.posts_get(text) is 'One row of posts. svc:0123456789abcdef';
       create function svc_crud.own_get(row_id text) returns json language sql as 'select null::json';
       comment on function svc_crud.own_get(text) is 'Mine.'`,
    );
    const reports: string[] = [];
    await migrate({ ...target, report: (line) => reports.push(line) });
    const kept = all.filter((name) => !name.startsWith("svc_crud.notes_"));
    expect(kept).toHaveLength(all.length - 7);
    expect(await functions()).toEqual([...kept, "svc_crud.own_get(text)"].sort());
    expect(reports).toHaveLength(8);
    expect(reports).toContain("dropped svc_crud.posts_get(text): no file of sql/crud defines it any more");

    await writeFile(file, text);
    expect(await migrate(target)).toEqual(["application/sql/crud/notes.sql"]);
    expect(await functions()).toEqual([...all, "svc_crud.own_get(text)"].sort());

    await rm(join(folder, "sql/crud"), { recursive: true });
    await migrate(target);
    expect(await functions()).toEqual(["svc_crud.own_get(text)"]);
  });

  test("every table of the owner has row-level security, also one that forgot it", async () => {
    const adminUrl = await create("application");
    expect(
      await rows(
        adminUrl,
        "select oid::regclass::text from pg_class where relkind in ('r', 'p') and relowner = 'svc_owner'::regrole and not relrowsecurity",
      ),
    ).toEqual([]);
  });
});
