// If this file fails, nobody hears that the disk of the stored files is not mounted, and new files land on another one.
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeMissingFolder } from "../../src/storage/missing-folder.ts";
import { createDriver, objectKey } from "../../src/storage/storage.ts";
import { database } from "../support/database.ts";

const db = database();

test("a folder that has none of the files of the rows is told, one that lacks a few is not", async () => {
  const parent = mkdtempSync(join(tmpdir(), "svc-missing-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const config = { driver: "disk", dir: join(parent, "files") } as const;
  const driver = createDriver(config);
  const system = await db.connect("system");
  const missing = () => describeMissingFolder(config, driver, system as never);
  expect(await missing()).toBeNull(); // no files yet, and no folder

  const rows = await db.sql<{ id: string }>(`insert into svc.storage_objects (id, name, size, type, sha256)
    select gen_random_uuid(), 'x', 1, 'text/plain', repeat('0', 64) from generate_series(1, 3) returning id`);
  await driver.put(objectKey(String(rows[1]?.id)), Buffer.from("x"));
  expect(await missing()).toBeNull();

  renameSync(config.dir, join(parent, "elsewhere"));
  await driver.put(objectKey("11111111-1111-4111-8111-111111111111"), Buffer.from("new")); // makes the folder again
  expect(await missing()).toContain(`are not in ${config.dir}: is its disk mounted`);
});
