// If this file fails, a backup cannot be restored into a server of a newer major version.
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { backupsFolder, hasPrograms, restore, rowsOf, take } from "../support/backups.ts";
import { database } from "../support/database.ts";

const db = database();
const target = database("template0");
const backups = backupsFolder();

describe.skipIf(!(await hasPrograms(inject("serverVersion"))))("a backup of another major version", () => {
  test("is restored, although PostgreSQL's functions have other arguments, and they are closed as before", async () => {
    // Stands for pg_logical_emit_message(), to which version 17 added an argument.
    await db.sql(`set allow_system_table_mods = on;
      create function pg_catalog.svc_of_before() returns integer language sql as 'select 1';
      revoke execute on function pg_catalog.svc_of_before() from public; reset allow_system_table_mods`);
    const folder = join(backups, "older");
    const taken = await take(db, new DiskDriver(join(backups, "bytes")), folder);
    const manifest = { ...taken, database: { ...taken.database, serverVersion: "14.9" } };
    await restore(target, folder, join(backups, "restored"), { manifest });
    expect(await rowsOf(target)).toEqual(await rowsOf(db));
    const closed = (role: string) =>
      target.sql(
        `select proname::text as name from pg_proc
          where proname in ('pg_logical_emit_message', 'pg_notify', 'set_config', 'svc_of_before')
            and has_function_privilege($1, oid, 'execute')`,
        [role],
      );
    expect(await closed("svc_authenticated")).toEqual([]);
    const usage = "select has_schema_privilege('svc_authenticated', 'public', 'usage') as it";
    expect(await target.sql(usage)).toEqual([{ it: true }]);
  });
});
