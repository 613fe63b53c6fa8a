/** Backups of a test file: folders that go with it, and the few steps that most tests take. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { checkBackup } from "../../src/backup/check.ts";
import type { Manifest } from "../../src/backup/manifest.ts";
import { findPrograms } from "../../src/backup/programs.ts";
import { type RestoreOptions, restoreBackup } from "../../src/backup/restore.ts";
import { takeBackup } from "../../src/backup/take.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import type { StorageDriver } from "../../src/storage/drivers/driver.ts";
import type { Database } from "./database.ts";
import { root } from "./global-setup.ts";

/** PostgreSQL from npm has no pg_dump, but the machine may have one. */
export async function hasPrograms(serverVersion: string): Promise<boolean> {
  const found = await findPrograms(Number.parseInt(serverVersion, 10)).catch(() => null);
  if (!found) console.warn("Tests of backups are skipped: there is no pg_dump of the server's version.");
  return found !== null;
}

/** An empty folder for a test file. */
export function backupsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-backups-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export const take = (db: Database, driver: StorageDriver, folder: string): Promise<Manifest> =>
  takeBackup({ adminUrl: db.url("admin"), driver, folder, version: "0.0.0" });

/** Restores into a database of the test, with its files into `bytes`. */
export async function restore(
  db: Database,
  folder: string,
  bytes: string,
  options: Partial<RestoreOptions> = {},
): Promise<void> {
  const { manifest } = await checkBackup(folder);
  const driver = new DiskDriver(bytes);
  await restoreBackup({ folder, manifest, adminUrl: db.url("admin"), platform: root, driver, ...options });
}

/** The content of every table, as backups compare it. */
export const rowsOf = (db: Database) =>
  db.sql("select name, rows, hash from svc_private.describe_rows() order by name");
