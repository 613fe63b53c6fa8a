/**
 * The stored files of a process: the driver, the read grants and the data of objects. Calls use it through
 * `ctx.storage` (src/storage/context.ts), browsers through `route.ts`.
 * Next hop: `src/storage/drivers/driver.ts` for the bytes, `sql/storage/` for the rows.
 */
import { createHash, type Hash } from "node:crypto";
import type pg from "pg";
import type { Logger } from "pino";
import type { EffectiveConfig } from "../config/config.ts";
import { requirePackages } from "../kit/optional-packages.ts";
import { DiskDriver } from "./drivers/disk.ts";
import type { PutOptions, StorageDriver } from "./drivers/driver.ts";
import { S3Driver } from "./drivers/s3.ts";
import { ObjectFinder } from "./find-objects.ts";
import { PublicObjects } from "./public-objects.ts";
import { ReadGrants } from "./read-grants.ts";

export type UploadLimits = Pick<
  EffectiveConfig["limits"],
  "uploadBytes" | "uploadsPerUser" | "storageBytes" | "storageBytesPerUser" | "storageBytesAnonymous"
>;

export interface Storage {
  driver: StorageDriver;
  grants: ReadGrants;
  limits: UploadLimits;
  uploads: EffectiveConfig["uploads"];
  /** The system's pool, for the route's access check, uploads and the sweep. */
  pool: pg.Pool;
  /** Tells who may see which object, for the route. */
  finder: ObjectFinder;
  publicObjects: PublicObjects;
  log: Logger;
}

export interface StorageOptions {
  config: Pick<EffectiveConfig, "storage" | "limits" | "uploads" | "production">;
  /** Newest first. */
  secrets: readonly string[];
  pool: pg.Pool;
  log: Logger;
}

export function createStorage({ config, secrets, pool, log }: StorageOptions): Storage {
  const { limits, uploads } = config;
  const finder = new ObjectFinder(pool);
  return {
    driver: createDriver(config.storage, config.production),
    grants: new ReadGrants(secrets),
    limits,
    uploads,
    pool,
    finder,
    publicObjects: new PublicObjects(finder),
    log,
  };
}

/** @throws DefinitionError if the packages for S3 are not installed */
export function createDriver(config: EffectiveConfig["storage"], production = true): StorageDriver {
  if (config.driver === "disk") return new DiskDriver(config.dir, { remakes: !production });
  requirePackages("s3");
  return new S3Driver(config.bucket, config);
}

/**
 * The key of an object's bytes: an id of their own, new for each attempt to write them and never chosen by a caller.
 * So no upload can overwrite a stored file, in any store, and nobody finds the bytes of a removed file again.
 */
export const objectKey = (bytesId: string) => `objects/${bytesId}`;
export const transformPrefix = (bytesId: string) => `transforms/${bytesId}/`;

/**
 * Writes bytes under an id, counting and hashing them on the way.
 *
 * @param options those of the driver
 * @returns the number of bytes and their SHA-256 in hex; when it returns, the bytes are durable
 */
export async function putBytes(
  driver: StorageDriver,
  key: string,
  bytes: AsyncIterable<Uint8Array>,
  options: PutOptions = {},
): Promise<{ size: number; sha256: string }> {
  const measure = new Measure();
  await driver.put(key, measure.pass(bytes), options);
  return { size: measure.size, sha256: measure.sha256 };
}

/** Counts and hashes the bytes that pass through it. */
export class Measure {
  size = 0;
  readonly #hash: Hash;

  constructor(hash = createHash("sha256")) {
    this.#hash = hash;
  }

  async *pass(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.#hash.update(chunk);
      this.size += chunk.length;
      yield chunk;
    }
  }

  digest(): Buffer {
    return this.#hash.copy().digest();
  }

  get sha256(): string {
    return this.digest().toString("hex");
  }

  /** A second measure that continues where this one is. */
  copy(): Measure {
    const copy = new Measure(this.#hash.copy());
    copy.size = this.size;
    return copy;
  }
}

/**
 * Removes an object's bytes and all of its transforms. Its row must be gone: a transform that is being made then sees
 * that and removes itself.
 */
export async function removeBytes({ driver }: Pick<Storage, "driver">, bytesId: string): Promise<void> {
  await driver.delete(objectKey(bytesId));
  await driver.deleteAll(transformPrefix(bytesId));
}

/**
 * Whether bytes without a row may be removed now. During a backup they stay, and the sweep removes them later. Ask this after the
 * transaction that deleted the row has committed (sql/backup/may_remove_bytes.sql explains why that suffices).
 */
export async function mayRemoveBytes({ pool }: Pick<Storage, "pool">): Promise<boolean> {
  const { rows } = await pool.query("select svc_private.may_remove_bytes() as may");
  return rows[0].may;
}
