// If this file fails, a restored backup has lost its history, or triggers that note what follows.
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { backupsFolder, hasPrograms, restore, take } from "../support/backups.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";

const db = database("platform");
const target = database("template0");
const backups = backupsFolder();
const install = `select svc_private.install_history('[{"table": "public.orders", "keys": ["id"], "omit": []}]')`;
const entries = "select operation, changed from svc.row_history('public.orders', '1') order by id";

test.skipIf(!(await hasPrograms(inject("serverVersion"))))(
  "a restored database has the history, and continues it",
  async () => {
    await db.sql("create table public.orders (id integer primary key, title text)");
    await db.sql(install);
    await db.sql("insert into orders values (1, 'Hail')");
    await db.sql("update orders set title = 'Wind'");
    await take(db, new DiskDriver(bytesFolder()), join(backups, "one"));
    await restore(target, join(backups, "one"), bytesFolder());
    // The next `svc migrate` has nothing to apply. The number that orders had may be that of another table.
    await target.sql("create table public.others (id integer primary key)");
    await target.sql("insert into others values (1)");
    await target.sql("update svc_private.history_tables set relation = 'public.others'::regclass");
    await expect(target.sql("select svc.row_history('public.others', '1')")).rejects.toMatchObject({ code: "55000" });
    await target.sql("update orders set title = 'Storm'");
    expect(await target.sql(entries)).toEqual([
      ...(await db.sql(entries)),
      { operation: "update", changed: { title: ["Wind", "Storm"] } },
    ]);
    await expect(target.sql("delete from svc_private.history_entries")).rejects.toMatchObject({ code: "42501" });
  },
);
