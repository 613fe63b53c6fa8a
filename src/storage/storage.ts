/**
 * Stored files of a process: the driver, the grants, and what is known of an object. Calls reach it through
 * `ctx.storage` (src/storage/context.ts), browsers through `route.ts`.
 * Next hop: `src/storage/drivers/driver.ts` for the bytes, `sql/storage/` for the rows.
 */
import { createHash } from "node:crypto";
import type pg from "pg";
import type { Logger } from "pino";
import type { EffectiveConfig } from "../config/config.ts";
import type { StorageObject } from "../contract/storage.ts";
import { DiskDriver } from "./drivers/disk.ts";
import type { PutOptions, StorageDriver } from "./drivers/driver.ts";
import { S3Driver } from "./drivers/s3.ts";
import { ReadGrants } from "./read-grants.ts";

/** What is known of an object here, and to nobody outside. */
export interface FoundObject extends StorageObject {
  /** Names its bytes in the driver. */
  bytesId: string;
  /** Of the bytes, in hex. */
  sha256: string;
}

export type UploadLimits = Pick<
  EffectiveConfig["limits"],
  "uploadBytes" | "uploadsPerUser" | "storageBytes" | "storageBytesPerUser" | "storageBytesAnonymous"
>;

export interface Storage {
  driver: StorageDriver;
  grants: ReadGrants;
  limits: UploadLimits;
  uploads: EffectiveConfig["uploads"];
  /** The system's pool: the route's decision, uploads and the sweep. */
  pool: pg.Pool;
  log: Logger;
}

export interface StorageOptions {
  config: Pick<EffectiveConfig, "storage" | "limits" | "uploads">;
  /** Newest first. */
  secrets: readonly string[];
  pool: pg.Pool;
  log: Logger;
}

export function createStorage({ config, secrets, pool, log }: StorageOptions): Storage {
  const { limits, uploads } = config;
  return { driver: createDriver(config.storage), grants: new ReadGrants(secrets), limits, uploads, pool, log };
}

export function createDriver(config: EffectiveConfig["storage"]): StorageDriver {
  return config.driver === "disk" ? new DiskDriver(config.dir) : new S3Driver(config.bucket, config);
}

/**
 * Where bytes lie: under an id of their own, new for each attempt to write them, and never one that a caller chose. So no
 * upload can overwrite the bytes of a stored file, in any store, and a removed file's bytes are not found again.
 */
export const objectKey = (bytesId: string) => `objects/${bytesId}`;
export const transformPrefix = (bytesId: string) => `transforms/${bytesId}/`;

/**
 * Writes bytes under an id, counting and hashing them on the way.
 *
 * @param options as those of the driver
 * @returns their number, and their SHA-256 in hex; when it returns they are safe
 */
export async function putBytes(
  driver: StorageDriver,
  key: string,
  bytes: AsyncIterable<Uint8Array>,
  options: PutOptions = {},
): Promise<{ size: number; sha256: string }> {
  const hash = createHash("sha256");
  let size = 0;
  await driver.put(
    key,
    (async function* () {
      for await (const chunk of bytes) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    })(),
    options,
  );
  return { size, sha256: hash.digest("hex") };
}

/**
 * Removes an object's bytes and everything made of them. Its row must be gone: then whoever is making a transform of it
 * finds that out and removes that too.
 */
export async function removeBytes({ driver }: Pick<Storage, "driver">, bytesId: string): Promise<void> {
  await driver.delete(objectKey(bytesId));
  await driver.deleteAll(transformPrefix(bytesId));
}

/**
 * Whether bytes whose row is gone may go now. While a backup runs they stay, and the sweep removes them later. To be asked
 * after the transaction that deleted the row has committed (sql/backup/may_remove_bytes.sql says why that suffices).
 */
export async function mayRemoveBytes({ pool }: Pick<Storage, "pool">): Promise<boolean> {
  const { rows } = await pool.query("select svc_private.may_remove_bytes() as may");
  return rows[0].may;
}
