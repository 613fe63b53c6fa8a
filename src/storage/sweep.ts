/**
 * Removes bytes without a row: their transaction rolled back, their process died, or the bytes were not removed with
 * the row. Removes expired uploads, too. Run by a job; safe to run anywhere, at any time and concurrently.
 * Next hop: `sql/storage/expire_uploads.sql`; `workers/tasks/sweep-storage.ts` is the job.
 */
import { isUuid } from "../kit/uuid.ts";
import { unlimited } from "../postgres/silence.ts";
import { mayRemoveBytes, objectKey, removeBytes, type Storage } from "./storage.ts";
import { uploadPrefix } from "./upload-parts.ts";

/** In milliseconds, longer than any upload may take. Bytes are written before their row; younger ones may still get one. */
const sweepAge = 24 * 60 * 60_000;

type Swept = Pick<Storage, "driver" | "pool" | "log">;

/** Ids per statement. */
const batch = 500;

/**
 * @param age in milliseconds: younger bytes are left alone, by the earlier of our clock and PostgreSQL's. Where one is a
 *   day ahead, bytes that have no row yet would be removed. (Default: a day)
 * @param signal stops it between two batches; the next sweep does the rest. (Default: none)
 * @returns how many objects' bytes were removed
 */
export async function sweepStorage(storage: Swept, age = sweepAge, signal?: AbortSignal): Promise<number> {
  const end = new Date(Math.min(Date.now(), await clockOf(storage)) - age);
  await storage.driver.sweepLeftovers(end);
  let removed = 0;
  for (const area of ["objects/", "transforms/"]) {
    for await (const ids of idsOf(storage, area, end)) {
      signal?.throwIfAborted();
      removed += await removeMissing(storage, ids);
    }
  }
  await sweepUploads(storage, end, signal);
  await unlimited(storage.pool).query("select svc_private.recount_stored_bytes()"); // reads all rows
  await storage.pool.query("select svc_private.fold_storage_usage()");
  return removed;
}

/** In milliseconds since 1970. */
const clockOf = async ({ pool }: Swept): Promise<number> =>
  (await pool.query<{ now: Date }>("select clock_timestamp() as now")).rows[0]?.now.getTime() ?? 0;

/** Removes expired uploads, then parts without an upload. */
async function sweepUploads(storage: Swept, before: Date, signal?: AbortSignal): Promise<void> {
  const expire = "select svc_private.expire_uploads($1) as id";
  for (let removed = batch; removed === batch; ) {
    signal?.throwIfAborted();
    const { rows } = await storage.pool.query(expire, [batch]);
    await removeParts(storage, rows);
    removed = rows.length;
  }
  for await (const ids of idsOf(storage, "uploads/", before)) {
    signal?.throwIfAborted();
    const { rows } = await storage.pool.query("select svc_private.missing_uploads($1) as id", [ids]);
    await removeParts(storage, rows);
  }
}

/** Asks each time, since a backup may have begun that needs the files of its snapshot. */
async function removeParts(storage: Swept, uploads: { id: string }[]): Promise<void> {
  if (uploads.length === 0 || !(await mayRemoveBytes(storage))) return;
  for (const { id } of uploads) await storage.driver.deleteAll(uploadPrefix(id));
}

/** The ids below an area with old enough bytes, in batches. */
async function* idsOf({ driver }: Swept, area: string, before: Date): AsyncGenerator<string[]> {
  let ids = new Set<string>();
  for await (const { key, modifiedAt } of driver.list(area)) {
    const id = key.slice(area.length).split("/")[0];
    // Skips names without an id, such as a file manager's own files; they must not stop the sweep.
    if (modifiedAt >= before || !isUuid(id)) continue;
    ids.add(id);
    if (ids.size < batch) continue;
    yield [...ids];
    ids = new Set();
  }
  if (ids.size > 0) yield [...ids];
}

async function removeMissing(storage: Swept, ids: string[]): Promise<number> {
  const { rows } = await storage.pool.query("select svc_private.missing_storage_objects($1) as id", [ids]);
  if (rows.length === 0 || !(await mayRemoveBytes(storage))) return 0;
  for (const { id } of rows) {
    await removeBytes(storage, id);
    storage.log.info({ key: objectKey(id) }, "removed bytes without a stored object");
  }
  return rows.length;
}
