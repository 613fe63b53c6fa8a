/**
 * Marks the stored files with the database that sweeps them. To another database, all of them are bytes without a row.
 * Next hop: `sql/storage/claim_storage.sql`.
 */
import { DefinitionError } from "../kit/definition-error.ts";
import type { Storage } from "./storage.ts";

/** The mark's, beside the folders of objects. */
const key = "mark";
/** Fits no database: two that sweep the same files stop each other, until an operator decides. */
const disputed = "disputed";

/**
 * Call it before each sweep.
 *
 * @param adopt whether this database takes the files over. (Default: false)
 * @returns whether the files had been marked before; the first to mark files that others may use must not sweep at once
 * @throws DefinitionError if another database, or a later state of this one, has swept these files
 */
export async function claimStorage(
  { driver, pool }: Pick<Storage, "driver" | "pool">,
  adopt = false,
): Promise<boolean> {
  const found = (await driver.readWhole(key))?.toString() ?? null;
  const text = "select svc_private.claim_storage($1, $2) as mark";
  const mark = (await pool.query<{ mark: string | null }>(text, [found, adopt])).rows[0]?.mark;
  await driver.put(key, Buffer.from(mark ?? disputed));
  if (mark) return found !== null;
  throw new DefinitionError(
    "Bytes without a row were not removed: another database, or another state of this one, sweeps the same stored files.",
    {
      hint:
        "Give the other database a storage.dir or storage.bucket of its own. Then, with the database to which the files belong: " +
        "`svc storage verify`, and `svc storage gc --adopt`. After a restore or a reset that is this one.",
    },
  );
}
