/**
 * The functions that files of `sql/crud/` have made. The comment of each says from which text it was made, so the migrator
 * knows which are there without applying the files.
 * Next hop: `src/crud/crud-sql.ts` writes the files; `sql/migrate/drop_unwritten_crud.sql`.
 */
import type pg from "pg";
import type { MigrationFile } from "./migration-files.ts";

/** Fingerprints of the functions in the text of files. */
export const fingerprintsIn = (text: string): string[] =>
  [...text.matchAll(/ svc:([0-9a-f]{16})'/g)].flatMap(([, fingerprint]) => fingerprint ?? []);

/**
 * After a migration every file of `sql/` is applied again, because the migration may have removed what the file made. The
 * functions of `sql/crud/` refer to nothing by its id, so no change of a table removes them: for 300 tables they are most of
 * the files, and calls of the table that the migration has changed wait until the last one is applied.
 *
 * @param fresh the migrations that were applied now @returns whether all functions of an unchanged file are there
 */
export async function generatedFunctions(
  client: pg.Client,
  fresh: readonly MigrationFile[],
): Promise<(file: MigrationFile) => boolean> {
  // One that names the schema may have changed the functions' text or privileges, and not their comments.
  if (fresh.some(({ text }) => /svc_crud/i.test(text))) return () => false;
  const { rows } = await client.query<{ fingerprint: string }>(
    `select substring(obj_description(oid, 'pg_proc') from ' svc:([0-9a-f]{16})$') as fingerprint
       from pg_catalog.pg_proc where pronamespace = to_regnamespace('svc_crud')`,
  );
  const there = new Set(rows.map(({ fingerprint }) => fingerprint));
  return ({ path, text }) => {
    const made = path.startsWith("crud/") ? fingerprintsIn(text) : [];
    return made.length > 0 && made.every((fingerprint) => there.has(fingerprint));
  };
}
