/**
 * Compares the bytes of every object with its row: do they exist, with the same size and hash? Reads all of them, one
 * file at a time.
 * Next hop: `sql/storage/next_storage_objects.sql`.
 */
import type pg from "pg";
import type { StorageDriver } from "./drivers/driver.ts";
import { Measure, objectKey } from "./storage.ts";

type Damage = "missing" | "another size" | "other bytes";

export interface Verified {
  id: string;
  /** Size of the stored bytes. */
  size: number;
  damage: Damage | null;
}

/** Rows per statement. */
const batch = 500;

/** Yields every object once, in the order of ids. */
export async function* verifyStorage(driver: StorageDriver, pool: pg.Pool): AsyncIterable<Verified> {
  for (let after: string | null = null; ; ) {
    const text = "select id, bytes_id, size::float8 as size, sha256 from svc_private.next_storage_objects($1, $2)";
    const { rows }: pg.QueryResult<Row> = await pool.query(text, [after, batch]);
    for (const row of rows) {
      const verified = await verifyOne(driver, row);
      // If the object was deleted since the row was read, nothing is missing.
      if (verified.damage !== "missing" || (await exists(pool, row.bytes_id))) yield verified;
    }
    const last = rows.at(-1);
    if (!last || rows.length < batch) return;
    after = last.id;
  }
}

interface Row {
  id: string;
  bytes_id: string;
  size: number;
  sha256: string;
}

async function verifyOne(driver: StorageDriver, { id, bytes_id, size: expected, sha256 }: Row): Promise<Verified> {
  const bytes = await driver.read(objectKey(bytes_id));
  if (!bytes) return { id, size: 0, damage: "missing" };
  const read = new Measure();
  for await (const _ of read.pass(bytes));
  const { size } = read;
  if (size !== expected) return { id, size, damage: "another size" };
  return { id, size, damage: read.sha256 === sha256 ? null : "other bytes" };
}

async function exists(pool: pg.Pool, bytesId: string): Promise<boolean> {
  const { rowCount } = await pool.query("select svc_private.missing_storage_objects($1)", [[bytesId]]);
  return rowCount === 0;
}
