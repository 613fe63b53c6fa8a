// If this file fails, a backup of a running service is not consistent: rows without their files, or rows that never
// existed together.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { backedUpFiles, checkBackup } from "../../src/backup/check.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { sweepStorage } from "../../src/storage/sweep.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { maintain } from "../support/admin.ts";
import { backupsFolder, hasPrograms, restore, rowsOf, take } from "../support/backups.ts";
import { database } from "../support/database.ts";
import { bytesFolder, fileProcedures, stored } from "../support/files.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { begun, collection, patch, tus } from "../support/uploads.ts";

const db = database();
const dir = bytesFolder();
const svc = service(db, apiWith({ procedures: fileProcedures }), { storage: { driver: "disk", dir } });
const disk = new DiskDriver(dir);
const backups = backupsFolder();
const target = database("template0");
let pool: pg.Pool;
let ann: User;

beforeAll(async () => {
  pool = db.pool("system");
  ann = await svc.signUp("ann");
});

const file = (text: string) => new File([text], "a.txt", { type: "text/plain" });
const sweep = () => sweepStorage({ driver: disk, pool, log: createLog("silent") }, -60_000);

/** The disk driver, with a pause before the first byte is read: the snapshot exists then, and nothing is copied. */
function pausing(meanwhile: () => Promise<void>): DiskDriver {
  let paused: Promise<void> | undefined;
  const once = () => {
    paused ??= meanwhile();
    return paused;
  };
  return Object.assign(Object.create(disk) as DiskDriver, {
    read: (key: string) => once().then(() => disk.read(key)),
    readWhole: (key: string) => once().then(() => disk.readWhole(key)),
  });
}

describe.skipIf(!(await hasPrograms(inject("serverVersion"))))("while the service goes on", () => {
  test("files that are deleted and swept during the copy are in the backup, and gone after it", async () => {
    const ids = [await stored(svc, ann, file("one")), await stored(svc, ann, file("two".repeat(500_000)))];
    const rows = await db.sql("select bytes_id::text as key from svc.storage_objects where id = any ($1)", [ids]);
    const keys = rows.map(({ key }) => `objects/${key}`);
    const upload = await begun(svc, ann, 20);
    expect((await patch(svc, ann, upload, 0, "half of it")).status).toBe(204);
    const during = async () => {
      for (const id of ids) expect((await svc.mutate(ann, "files.remove", { id })).status).toBe(200);
      const headers = { ...tus, ...bearer(ann) };
      expect((await svc.fetch(`${collection}/${upload}`, { method: "DELETE", headers })).status).toBe(204);
      await sweep();
    };
    const manifest = await take(db, pausing(during), join(backups, "deleted"));
    expect(manifest.files).toMatchObject({ count: 3, damaged: 0 });
    expect((await checkBackup(join(backups, "deleted"))).problems).toEqual([]);

    expect(await Promise.all(keys.map((key) => disk.readWhole(key)))).not.toContain(null);
    await sweep();
    expect(await Promise.all(keys.map((key) => disk.readWhole(key)))).toEqual([null, null]);
  });

  test("limits of the database, such as for transactions, do not end it", async () => {
    await stored(svc, ann, file("long"));
    const limits = ["idle_in_transaction_session_timeout"];
    if (Number.parseInt(inject("serverVersion"), 10) >= 17) limits.push("transaction_timeout");
    for (const it of limits) await maintain(inject("urls").admin, `alter database ${db.name} set ${it} = '300ms'`);
    try {
      await take(
        db,
        pausing(() => sleep(1000)),
        join(backups, "limits"),
      );
    } finally {
      for (const it of limits) await maintain(inject("urls").admin, `alter database ${db.name} reset ${it}`);
    }
    expect((await checkBackup(join(backups, "limits"))).problems).toEqual([]);
  });

  test("what is restored has the rows of the snapshot, and each file of it, while others write", async () => {
    let writing = true;
    const written: string[] = [];
    const writer = async () => {
      for (let n = 0; writing; n++) {
        const id = await stored(svc, ann, file(`number ${n}`));
        written.push(id);
        await db.sql("insert into guestbook (message) values ($1)", [id]);
        if (n % 3 === 2) await svc.mutate(ann, "files.remove", { id: written[n - 1] });
      }
    };
    const writers = [writer(), writer()];
    const folder = join(backups, "written");
    const before = await rowsOf(db);
    const manifest = await take(db, disk, folder);
    writing = false;
    await Promise.all(writers);

    await restore(target, folder, join(backups, "bytes"));
    expect((await rowsOf(target)).map(({ name, rows, hash }) => ({ name, rows: Number(rows), hash }))).toEqual(
      manifest.tables,
    );
    expect(await rowsOf(db)).not.toEqual(before);
    const objects = await target.sql<{ id: string; sha256: string }>(
      "select bytes_id as id, sha256 from svc.storage_objects",
    );
    const bytes = new DiskDriver(join(backups, "bytes"));
    for (const { id, sha256 } of objects) {
      const whole = await bytes.readWhole(`objects/${id}`);
      expect(whole && createHash("sha256").update(whole).digest("hex")).toBe(sha256);
    }
    let listed = 0;
    for await (const files of backedUpFiles(folder)) listed += files.length;
    expect(listed).toBe(objects.length);
  });
});
