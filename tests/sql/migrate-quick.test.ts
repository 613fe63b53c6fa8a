// If this file fails, `svc start` serves with a database that does not have the application's files.
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { checksum, readChecksums } from "../../src/migrate/ledger.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { migrationStatus } from "../../src/migrate/migration-status.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
const folder = mkdtempSync(join(tmpdir(), "svc-quick-"));
const path = (name: string) => join(folder, name);
const target = () => ({ adminUrl: db.url("admin"), platform: root, application: folder });
const windows = (text: string) => text.replaceAll("\n", "\r\n");
const quickly = async () => migrate({ ...target(), unless: await readChecksums(target()) });
beforeAll(async () => {
  for (const part of ["migrations", "sql"]) cpSync(join(root, "tests/fixture", part), path(part), { recursive: true });
  await quickly();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a quick migration", () => {
  test("does nothing if the database has exactly these files", async () => {
    await db.sql("create table public.by_hand (id integer)");
    const asked = vi.spyOn(pg.Client.prototype, "query");
    expect(await quickly()).toEqual([]);
    expect(asked).toHaveBeenCalledTimes(2); // settings, and what was applied: each start waits for it
    asked.mockRestore();
    expect(await db.sql("select relrowsecurity from pg_class where relname = 'by_hand'")).toEqual([
      { relrowsecurity: false },
    ]);
    await db.sql("drop table public.by_hand");
  });

  test("applies a revision of the queue", async () => {
    await db.sql("delete from graphile_worker.migrations where id > 19");
    expect(await quickly()).toEqual(["platform/queue at revision 20"]);
    expect(await quickly()).toEqual([]);
  });

  test("applies a new file, a changed one and a new migration", async () => {
    const define = (answer: number) =>
      writeFileSync(path("sql/quick.sql"), `create or replace function public.quick() returns int return ${answer};`);
    define(1);
    expect(await quickly()).toEqual(["application/sql/quick.sql"]);
    define(2);
    expect(await quickly()).toEqual(["application/sql/quick.sql"]);
    writeFileSync(path("migrations/9000_quick.sql"), "create table public.quick_rows (id integer primary key);");
    expect(await quickly()).toContain("application/migrations/9000_quick.sql");
    expect(await quickly()).toEqual([]);
  });

  test("a migration leaves generated functions alone, and makes again those that it has removed or may have changed", async () => {
    const migrateWith = async (name: string, text: string) => {
      writeFileSync(path(`migrations/${name}`), text);
      const applied = await quickly();
      expect(applied).toContain("application/sql/quick.sql");
      return applied.filter((file) => file.startsWith("application/sql/crud/"));
    };
    // Calls of the table wait until the last file is applied: with 300 tables that took longer than they may.
    expect(await migrateWith("9001_one.sql", "alter table public.quick_rows add column one integer;")).toEqual([]);
    const drop = "do $$ begin execute 'drop function svc_' || 'crud.posts_list(jsonb)'; end $$;";
    expect(await migrateWith("9002_drop.sql", drop)).toEqual(["application/sql/crud/posts.sql"]);
    const revoke = "revoke execute on all functions in schema svc_crud from svc_request;";
    expect((await migrateWith("9003_revoke.sql", revoke)).length).toBeGreaterThan(2);
    expect(
      await db.sql("select has_function_privilege('svc_request', 'svc_crud.posts_list(jsonb)', 'execute') as may"),
    ).toEqual([{ may: true }]);
  });

  test("takes two round trips for each further file: a large schema has hundreds, and the database may be far away", async () => {
    const tripsFor = async (files: number, value: number) => {
      const names = Array.from({ length: files }, (_, at) => path(`sql/trips_${at}.sql`));
      names.forEach((name, at) => {
        writeFileSync(
          name,
          `create or replace function public.trips_${at}() returns int language sql as 'select ${value}';`,
        );
      });
      const asked = vi.spyOn(pg.Client.prototype, "query");
      expect(await quickly()).toHaveLength(files);
      const trips = asked.mock.calls.length;
      asked.mockRestore();
      for (const name of names) rmSync(name);
      await quickly();
      return trips;
    };
    const few = await tripsFor(2, 1);
    // And one to check the body of each function that a person wrote.
    expect((await tripsFor(12, 2)) - few).toBe(10 * 3);
  });

  test("notes that a file is gone: if it returns it is applied again", async () => {
    renameSync(path("sql/quick.sql"), path("quick.sql"));
    expect(await quickly()).toEqual([]);
    renameSync(path("quick.sql"), path("sql/quick.sql"));
    expect(await quickly()).toEqual(["application/sql/quick.sql"]);
  });

  test("knows files with the line ends of Windows, also those that a version of svc has recorded with them", async () => {
    const files = {
      "migrations/9010_lines.sql": "create table public.lines (\n  id integer primary key\n);\n",
      "sql/lines.sql": "create or replace function public.lines() returns text\nreturn 'a\nb';\n",
    };
    const writeAll = (form: (text: string) => string) =>
      Object.entries(files).forEach(([name, text]) => {
        writeFileSync(path(name), form(text));
      });
    writeAll((text) => text);
    expect((await quickly()).length).toBeGreaterThan(1);
    writeAll(windows);
    expect(await quickly()).toEqual([]);
    await db.sql("update svc_private.applied_migrations set checksum = $1 where name = '9010_lines.sql'", [
      checksum(windows(files["migrations/9010_lines.sql"])),
    ]);
    expect(await quickly()).toEqual([]);
    const states = await migrationStatus({ ...target(), only: "application" });
    expect(states.filter(({ state }) => state !== "applied")).toEqual([]);
  });

  test("applies files that are links, as in a mounted ConfigMap, and no hidden ones, as those of editors", async () => {
    mkdirSync(path("sql/..2026_01_01"));
    writeFileSync(
      path("sql/..2026_01_01/linked.sql"),
      "create or replace function public.linked() returns int return 1;",
    );
    symlinkSync("..2026_01_01/linked.sql", path("sql/linked.sql"));
    symlinkSync("ann@host.123", path("sql/.#linked.sql"));
    expect(await quickly()).toEqual(["application/sql/linked.sql"]);
  });

  test("refuses a migration that was edited after it had been applied", async () => {
    writeFileSync(path("migrations/9000_quick.sql"), "create table public.quick_rows (id bigint primary key);");
    await expect(quickly()).rejects.toThrow(/9000_quick\.sql was edited after it had been applied/);
  });
});
