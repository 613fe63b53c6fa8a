/**
 * Removes bytes that no row speaks of: their transaction rolled back, their process died, or their row was deleted and
 * the bytes could not be. Run by a job; safe to run anywhere, at any time, by many.
 */
import { objectKey, removeBytes, type Storage } from "./storage.ts";

/** In milliseconds. Bytes come before their row; what is younger may still get one. Longer than any upload may take. */
export const sweepAge = 24 * 60 * 60_000;

type Swept = Pick<Storage, "driver" | "pool" | "log">;

/** Ids that are asked about in one statement. */
const batch = 500;

/**
 * @param before bytes written later are left alone. (Default: a day ago)
 * @returns how many objects' bytes were removed
 */
export async function sweepStorage(storage: Swept, before = new Date(Date.now() - sweepAge)): Promise<number> {
  await storage.driver.sweepLeftovers(before);
  let removed = 0;
  for (const area of ["objects/", "transforms/"]) {
    let ids = new Set<string>();
    for await (const { key, modifiedAt } of storage.driver.list(area)) {
      const id = key.slice(area.length).split("/")[0] ?? "";
      if (modifiedAt >= before) continue;
      ids.add(id);
      if (ids.size < batch) continue;
      removed += await removeMissing(storage, ids);
      ids = new Set();
    }
    removed += await removeMissing(storage, ids);
  }
  return removed;
}

async function removeMissing(storage: Swept, ids: Set<string>): Promise<number> {
  const { rows } = await storage.pool.query("select svc_private.missing_storage_objects($1) as id", [[...ids]]);
  for (const { id } of rows) {
    await removeBytes(storage, id);
    storage.log.info({ key: objectKey(id) }, "removed bytes that no object has");
  }
  return rows.length;
}
