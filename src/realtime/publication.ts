/**
 * Whether the write-ahead log says all that realtime follows. A statement by hand, or one that makes a table again, takes it out
 * of the publication without an error: pages then keep old rows.
 * Next hop: `sql/realtime/publish_tables.sql` sets it right.
 */
import type pg from "pg";
import { type FollowedTable, tableName } from "../crud/followed-tables.ts";

/** `svc codegen` writes the file that publishes, so that an application without it has no publication. */
export const missingRemedy = "Run svc migrate --again; without sql/realtime.sql, first svc codegen.";
const remedy = "Run svc migrate --again.";

/** With a mark for tables of which every change is published. Those of an unlogged table cannot be. */
const statement = `
  select w.name, c.relpersistence = 'u' as is_unlogged, p.oid is not null as is_made,
         p.pubinsert and p.pubupdate and p.pubdelete and p.pubtruncate as tells_all,
         (p.puballtables or r.oid is not null and r.prqual is null and r.prattrs is null)
           and (c.relkind = 'r' or p.pubviaroot) as is_told -- partitions are told by the name of their table
    from unnest($1::text[]) w (name)
    join pg_catalog.pg_namespace n on n.nspname = split_part(w.name, '.', 1)
    join pg_catalog.pg_class c on c.relnamespace = n.oid and n.nspname || '.' || c.relname = w.name
    left join pg_catalog.pg_publication p on p.pubname = 'svc'
    left join pg_catalog.pg_publication_rel r on r.prpubid = p.oid and r.prrelid = c.oid
   where c.relkind in ('r', 'p')
   order by w.name`;

/** @returns a text for the operator if changes of followed tables are not told; null otherwise */
export async function describePublication(
  pool: Pick<pg.Pool, "query">,
  followed: readonly Pick<FollowedTable, "schema" | "name">[],
): Promise<string | null> {
  const { rows } = await pool.query(statement, [followed.map(tableName)]);
  const logged = rows.filter(({ is_unlogged }) => !is_unlogged);
  const [first] = logged;
  const silent = logged.filter(({ is_told }) => !is_told).map(({ name }) => name);
  if (first && !first.is_made)
    return `The publication svc is missing: realtime hears of no change.\n  ${missingRemedy}`;
  if (first && !first.tells_all)
    return `The publication svc leaves out kinds of changes: pages keep old rows.\n  ${remedy}`;
  const [unlogged] = rows.filter(({ is_unlogged }) => is_unlogged);
  if (silent.length === 0 && unlogged)
    return (
      `${unlogged.name} is unlogged: the log has no line for its changes, and pages keep old rows.\n` +
      `  Set it logged, as svc db lint says, then svc migrate --again; or give its createCrud realtime: false.`
    );
  if (silent.length === 0) return null;
  return `The publication svc does not tell all changes of ${silent.join(", ")}: pages keep old rows.\n  ${remedy}`;
}
