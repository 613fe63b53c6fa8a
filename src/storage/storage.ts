/**
 * Stored files of a process: the driver, the grants, and what is known of an object. Calls reach it through
 * `ctx.storage` (src/context/storage.ts), browsers through `route.ts`.
 * Next hop: `drivers/driver.ts` for the bytes, `sql/storage/` for the rows.
 */
import { createHash } from "node:crypto";
import type pg from "pg";
import type { Logger } from "pino";
import type { EffectiveConfig } from "../define/config.ts";
import { DiskDriver } from "./drivers/disk.ts";
import type { PutOptions, StorageDriver } from "./drivers/driver.ts";
import { S3Driver } from "./drivers/s3.ts";
import { ReadGrants } from "./read-grants.ts";

/** What is known of an object. */
export interface StorageObject {
  id: string;
  name: string;
  /** In bytes. */
  size: number;
  /** The media type that its uploader stated. */
  type: string;
  visibility: "private" | "public";
}

export type UploadLimits = Pick<EffectiveConfig["limits"], "uploadBytes" | "uploadsPerUser">;

export interface Storage {
  driver: StorageDriver;
  grants: ReadGrants;
  limits: UploadLimits;
  /** The system's pool: the route's decision, uploads and the sweep. */
  pool: pg.Pool;
  log: Logger;
}

export interface StorageOptions {
  config: Pick<EffectiveConfig, "storage" | "limits">;
  /** Newest first. */
  secrets: readonly string[];
  pool: pg.Pool;
  log: Logger;
}

export function createStorage({ config, secrets, pool, log }: StorageOptions): Storage {
  return { driver: createDriver(config.storage), grants: new ReadGrants(secrets), limits: config.limits, pool, log };
}

export function createDriver(config: EffectiveConfig["storage"]): StorageDriver {
  return config.driver === "disk" ? new DiskDriver(config.dir) : new S3Driver(config.bucket, config);
}

export const objectKey = (id: string) => `objects/${id}`;
export const transformPrefix = (id: string) => `transforms/${id}/`;

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
export async function removeBytes({ driver }: Pick<Storage, "driver">, id: string): Promise<void> {
  await driver.delete(objectKey(id));
  await driver.deleteAll(transformPrefix(id));
}

/**
 * Whether bytes whose row is gone may go now. While a backup runs they stay, and the sweep removes them later. To be asked
 * after the transaction that deleted the row has committed (sql/backup/may_remove_bytes.sql says why that suffices).
 */
export async function mayRemoveBytes({ pool }: Pick<Storage, "pool">): Promise<boolean> {
  const { rows } = await pool.query("select svc_private.may_remove_bytes() as may");
  return rows[0].may;
}
