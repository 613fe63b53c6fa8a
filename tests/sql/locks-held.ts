import type pg from "pg";

/** Tables that a transaction locks in a mode that blocks readers or writers. */
export const locksHeld = async (client: pg.Client, except: string[] = []): Promise<string[]> => {
  const { rows } = await client.query(
    `select distinct c.oid::regclass || ' ' || l.mode as it
       from pg_locks l join pg_class c on c.oid = l.relation
      where l.pid = pg_backend_pid() and l.granted and c.relkind in ('r', 'p')
        and c.relnamespace <> all ('{pg_catalog,pg_toast,information_schema}'::regnamespace[])
        and l.mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
        and c.relname <> all ($1)
      order by 1`,
    [except],
  );
  return rows.map(({ it }) => it);
};
