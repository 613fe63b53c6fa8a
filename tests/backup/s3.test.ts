// If this file fails, files in a bucket are missing in the backup, or are not restored into a bucket. Part of `npm run
// chaos`: the store takes seconds to start, and only the driver differs from the disk, which has its own tests.
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { checkBackup } from "../../src/backup/check.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { S3Driver } from "../../src/storage/drivers/s3.ts";
import { backupsFolder, hasPrograms, restore, take } from "../support/backups.ts";
import { database } from "../support/database.ts";
import { bucket, hasS3Server, s3Server } from "../support/s3-server.ts";

const isWanted = process.env.CHAOS_KILLS !== undefined && hasS3Server && (await hasPrograms(inject("serverVersion")));

describe.skipIf(!isWanted)("with files in a bucket", () => {
  const db = database();
  const target = database("template0");
  const server = s3Server();
  const backups = backupsFolder();

  test("small and large ones are backed up, and restored to disk and into a bucket", async () => {
    const driver = new S3Driver(bucket, server);
    const contents = ["small", "large".repeat(1_500_000)].map((text) => ({ id: randomUUID(), text }));
    for (const { id, text } of contents) {
      await driver.put(`objects/${id}`, [Buffer.from(text)] as never);
      await db.sql(
        "insert into svc.storage_objects (id, name, size, type, sha256) values ($1, 'a', $2, 'text/plain', $3)",
        [id, text.length, createHash("sha256").update(text).digest("hex")],
      );
    }
    const folder = join(backups, "one");
    expect((await take(db, driver, folder)).files).toMatchObject({ count: 2, damaged: 0 });
    expect((await checkBackup(folder)).problems).toEqual([]);

    for (const { id } of contents) await driver.delete(`objects/${id}`);
    await restore(target, folder, "", { driver });
    await restore(target, folder, join(backups, "bytes"), { force: true });
    const disk = new DiskDriver(join(backups, "bytes"));
    for (const { id, text } of contents) {
      expect((await driver.readWhole(`objects/${id}`))?.toString()).toBe(text);
      expect((await disk.readWhole(`objects/${id}`))?.toString()).toBe(text);
    }
  });
});
