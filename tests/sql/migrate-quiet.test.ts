// If this file fails, a migration stops calls on unrelated tables: sign-in waits for an index of the application, or
// every table is locked because a migration adds another one.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrate, rehearseMigration } from "../../src/migrate/migrate.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { locksHeld } from "./locks-held.ts";

const db = database();
const folder = mkdtempSync(join(tmpdir(), "svc-quiet-"));
const write = (path: string, text: string) => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const options = () => ({ adminUrl: db.url("admin"), platform: root, application: folder });
beforeAll(async () => {
  for (const part of ["migrations", "sql"])
    cpSync(join(root, "tests/fixture", part), join(folder, part), { recursive: true });
  write("migrations/8000_create_quiet.sql", "create table public.quiet (id integer primary key, body text not null);");
  write(
    "sql/policies/public.quiet.sql",
    `alter table public.quiet enable row level security;
     create policy read_all on public.quiet for select to svc_authenticated using (true);
     grant select (id, body) on public.quiet to svc_authenticated;`,
  );
  write(
    "sql/search_more.sql",
    `select svc_private.install_search(
       '[{"table": "\\"public\\".\\"quiet\\"", "id": "id", "fields": ["body"], "language": "english", "always": "public"}]', 'more');`,
  );
  await migrate(options());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a migration", () => {
  test("that has nothing to do locks nothing", async () => {
    expect(await migrate(options())).toEqual([]);
    expect(await rehearseMigration(options(), locksHeld)).toEqual([]);
  });

  test("that adds a table locks no other, although all of sql/ is looked at again", async () => {
    write("migrations/9000_create_other.sql", "create table public.other (id integer primary key);");
    const locks = await rehearseMigration(options(), (client) => locksHeld(client, ["other"]));
    expect(locks).toEqual([]);
    const applied = await migrate(options());
    expect(applied).toContain("application/migrations/9000_create_other.sql");
    expect(applied).not.toContain("application/sql/policies/public.quiet.sql");
  });

  test.for([
    ["drops a policy", "drop policy read_all on public.quiet"],
    ["adds a policy", "create policy forgotten on public.quiet for select to svc_anonymous using (true)"],
    ["changes a privilege", "grant select on public.quiet to svc_anonymous"],
    ["changes a policy", "alter policy read_all on public.quiet using (id > 0)"],
    ["switches row-level security off", "alter table public.quiet disable row level security"],
    [
      "makes the table anew",
      "drop table public.quiet; create table public.quiet (id integer primary key, body text not null)",
    ],
  ] as const)("that %s has the file of that table applied again", async ([what, text]) => {
    const name = `90${10 + what.length}_${what.replaceAll(" ", "_")}.sql`;
    const state = () => db.sql("select svc_private.access_state('public.quiet') as it");
    const relation = () => db.sql("select 'public.quiet'::regclass::oid::text as it");
    const [before, oid] = [await state(), await relation()];
    write(`migrations/${name}`, `${text};`);
    expect(await migrate(options())).toContain("application/sql/policies/public.quiet.sql");
    if ((await relation())[0]?.it === oid[0]?.it) expect(await state()).toEqual(before);
    expect(
      await db.sql("select polname::text as name from pg_policy where polrelid = 'public.quiet'::regclass"),
    ).toEqual([{ name: "read_all" }]);
  });

  test("of the application that waits, or fails, does not hold the platform's tables", async () => {
    const holder = await db.connect("admin");
    await holder.query("begin; lock table public.quiet in access share mode");
    const { promise: wayGiven, resolve } = Promise.withResolvers<void>();
    const appliedAt = "select max(applied_at)::text as it from svc_private.applied_sql where scope = 'platform'";
    const before = await db.sql(appliedAt);
    const report = (line: string) => line.includes("rolled back") && resolve();
    const migration = migrate({ ...options(), again: true, lockWaitMs: 100, report });
    await wayGiven;
    // Already committed, while the application's part still waits.
    expect(await db.sql(appliedAt)).not.toEqual(before);
    await holder.query("commit");
    await migration;

    write("migrations/9900_fails.sql", "create table public.half (id integer); select 1 / 0;");
    const failed = await migrate({ ...options(), again: true }).then(() => "", String);
    expect(failed).toContain("9900_fails.sql: division by zero");
    expect(failed).toContain("The platform's files have been applied; the application's have not.");
    expect(await db.sql("select to_regclass('public.half') as it")).toEqual([{ it: null }]);
    rmSync(join(folder, "migrations/9900_fails.sql"));
    expect(await migrate(options())).toEqual([]);
  });
});
