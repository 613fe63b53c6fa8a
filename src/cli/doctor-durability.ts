/** Check of `svc doctor`: settings under which PostgreSQL can lose committed data. Next hop: `doctor.ts`. */
import type pg from "pg";

/** @param pool of requests; its login or database may have its own settings */
export async function forgetful(pool: Pick<pg.Pool, "query">): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "select name from pg_catalog.pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') " +
      "and setting = 'off' order by 1",
  );
  if (rows.length === 0) return [];
  const names = rows.map(({ name }) => name).join(", ");
  return [`${names}: off. Acknowledged writes may be lost when PostgreSQL or its machine crashes.\n  Switch it on.`];
}
