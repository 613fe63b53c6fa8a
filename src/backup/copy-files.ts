/**
 * Copies the bytes of all files in a snapshot: stored objects, and uploaded parts. Transforms are omitted, because they
 * can be recreated. Each file is compared with the checksum in its row while copying.
 * Next hop: `sql/storage/next_storage_objects.sql`, `sql/backup/next_upload_parts.sql`.
 */
import { createHash } from "node:crypto";
import { mkdir, open, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type pg from "pg";
import { DiskDriver } from "../storage/drivers/disk.ts";
import type { ByteRange, StorageDriver } from "../storage/drivers/driver.ts";
import { objectKey, putBytes } from "../storage/storage.ts";
import { uploadPrefix } from "../storage/upload-parts.ts";
import type { BackedUpFile, Checked, Manifest } from "./manifest.ts";

export interface CopyOptions {
  /** In a transaction with the snapshot. */
  client: pg.Client;
  from: StorageDriver;
  /** Target folder of the bytes. */
  folder: string;
  /** The path of files.jsonl. */
  list: string;
  signal: AbortSignal;
}

/** Rows read per statement. */
const batch = 500;

/** In bytes: smaller files are read at once, because a stream would be slower. */
const small = 1024 * 1024;

/** Concurrent copies: some hash while others wait for the disk. */
const parallel = 8;

export async function copyFiles({ client, from, folder, list, signal }: CopyOptions): Promise<Manifest["files"]> {
  const to = new DiskDriver(folder);
  const file = await open(list, "wx", 0o600);
  const hash = createHash("sha256");
  const sum = { size: 0, count: 0, bytes: 0, damaged: 0 };
  const lineOf = (copied: BackedUpFile) => {
    const line = Buffer.from(`${JSON.stringify(copied)}\n`);
    hash.update(line);
    sum.size += line.length;
    sum.count++;
    sum.bytes += copied.size;
    if (copied.damage) sum.damaged++;
    return line;
  };
  try {
    for await (const wanted of filesOf(client)) {
      const copied = await inParallel(wanted, (one) => copy(one, from, to), parallel, signal);
      await syncFiles(copied.flatMap(({ key, damage }) => (damage === "missing" ? [] : [to.pathOf(key)])));
      await file.write(Buffer.concat(copied.map(lineOf)));
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { ...sum, sha256: hash.digest("hex") };
}

type Wanted = Checked & { key: string };

/** In batches. */
async function* filesOf(client: pg.Client): AsyncGenerator<Wanted[]> {
  const objects = "select id, bytes_id, size::float8 as size, sha256 from svc_private.next_storage_objects($1, $2)";
  for (let after: string | null = null; ; ) {
    const { rows }: pg.QueryResult = await client.query(objects, [after, batch]);
    if (rows.length === 0) break;
    yield rows.map(({ bytes_id, size, sha256 }) => ({ key: objectKey(bytes_id), size, sha256 }));
    after = rows.at(-1).id;
  }
  const parts =
    "select upload_id, start, size::float8 as size, name, sha256 from svc_private.next_upload_parts($1, $2, $3)";
  for (let after: [string | null, string | null] = [null, null]; ; ) {
    const { rows }: pg.QueryResult = await client.query(parts, [...after, batch]);
    if (rows.length === 0) return;
    yield rows.map(({ upload_id, name, size, sha256 }) => ({ key: uploadPrefix(upload_id) + name, size, sha256 }));
    after = [rows.at(-1).upload_id, rows.at(-1).start];
  }
}

async function copy({ key, size, sha256 }: Wanted, from: StorageDriver, to: DiskDriver): Promise<BackedUpFile> {
  // A part of an upload may have grown since the snapshot: only its first bytes belong to it.
  const range = key.startsWith("uploads/") ? { start: 0, end: size - 1 } : undefined;
  const put = await (size <= small && !range ? copyWhole(key, from, to) : copyStream(key, from, to, range));
  if (!put) return { key, size: 0, sha256, damage: "missing" };
  return { key, ...put, ...(put.sha256 !== sha256 && { damage: "other bytes" as const }) };
}

async function copyStream(
  key: string,
  from: StorageDriver,
  to: DiskDriver,
  range?: ByteRange,
): Promise<Checked | null> {
  const bytes = await from.read(key, range);
  return bytes && putBytes(to, key, bytes, { durable: false });
}

/** Writes directly to the final path. The backup's folder is renamed when complete, so files need no temporary names. */
async function copyWhole(key: string, from: StorageDriver, to: DiskDriver): Promise<Checked | null> {
  const bytes = await from.readWhole(key);
  if (!bytes) return null;
  const path = to.pathOf(key);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes, { mode: 0o600, flag: "wx" });
  return { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** Flushes files and their folders after the copies of a batch; the system has usually begun to write them by then. */
export async function syncFiles(paths: readonly string[]): Promise<void> {
  const folders = new Set(paths.map((path) => dirname(path)));
  for (const all of [paths, [...folders], [...new Set([...folders].map((path) => dirname(path)))]]) {
    await inParallel(all, sync, parallel);
  }
}

/** Flushes a file or folder to disk. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync().finally(() => handle.close());
}

/** Runs at most `most` calls at once; results keep their order. The first failure ends it. */
export async function inParallel<Of, Result>(
  all: readonly Of[],
  work: (one: Of) => Promise<Result>,
  most: number,
  signal?: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = new Array(all.length);
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < all.length && !failed) {
      signal?.throwIfAborted();
      const at = next++;
      results[at] = await work(all[at] as Of).catch((error) => {
        failed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, worker));
  return results;
}
