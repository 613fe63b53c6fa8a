/**
 * Recognises the folder of stored files when it is not the one that the rows speak of: a disk that is not mounted, or another
 * `storage.dir`. Files that are stored there meanwhile would be missing later. Also recognises a bucket that cannot be used.
 */
import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type pg from "pg";
import type { EffectiveConfig } from "../config/config.ts";
import type { StorageDriver } from "./drivers/driver.ts";
import { describeStoreError } from "./drivers/s3-refusal.ts";
import { objectKey } from "./storage.ts";

/** Rows that are looked at: single files may be damaged. */
const some = 20;

/**
 * @param pool of the system
 * @returns a text for the operator if the bytes of the first files are all missing, or the bucket does not answer; null otherwise
 */
export async function describeMissingFolder(
  config: EffectiveConfig["storage"],
  driver: Pick<StorageDriver, "pathOf" | "read" | "list">,
  pool: Pick<pg.Pool, "query">,
): Promise<string | null> {
  try {
    // Whether the bucket, its region and the credentials are right shows with the first request.
    if (config.driver === "s3") for await (const _ of driver.list("objects/")) break;
    return await describeMissing(config, driver, pool);
  } catch (error) {
    const text = describeStoreError(error);
    if (text === undefined) throw error;
    return text;
  }
}

async function describeMissing(
  config: EffectiveConfig["storage"],
  driver: Pick<StorageDriver, "pathOf" | "read">,
  pool: Pick<pg.Pool, "query">,
): Promise<string | null> {
  const { rows } = await pool.query<{ bytes_id: string }>(
    "select bytes_id from svc_private.next_storage_objects(null, $1)",
    [some],
  );
  for (const { bytes_id: id } of rows) if (await isThere(driver, objectKey(id))) return null;
  if (rows.length === 0) return null;
  if (config.driver === "s3")
    return `The files of the database are not in the bucket ${config.bucket}: is this the right storage.bucket?`;
  return `The files of the database are not in ${config.dir}: is its disk mounted, and is this the right storage.dir?`;
}

async function isThere(driver: Pick<StorageDriver, "pathOf" | "read">, key: string): Promise<boolean> {
  if (driver.pathOf) {
    return stat(driver.pathOf(key)).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
    );
  }
  const bytes = await driver.read(key);
  bytes?.destroy();
  return bytes !== null;
}

/** @returns a text for the operator if this process may not write into the folder, or not make it; null otherwise, and for a bucket */
export async function describeClosedFolder(config: EffectiveConfig["storage"]): Promise<string | null> {
  if (config.driver !== "disk") return null;
  for (let folder = config.dir; ; folder = dirname(folder)) {
    try {
      await access(folder, constants.W_OK | constants.X_OK);
      return null;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" && folder !== dirname(folder)) continue; // it will be made
      const place = folder === config.dir ? folder : `${folder}, where ${config.dir} is to be made,`;
      return `The user that runs this command may not write into ${place} (${code}): uploads get 503.\n  Give the folder to the user that runs svc.`;
    }
  }
}
