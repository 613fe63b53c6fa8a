/**
 * Refuses to rewrite a table while processes serve. PostgreSQL shows a rewritten table empty to snapshots from before
 * (https://www.postgresql.org/docs/17/mvcc-caveats.html): a call that has waited for it would answer without its rows, and a policy
 * that looks for a row there would not find it.
 * Next hop: `migrate.ts`, its only caller.
 */
import type pg from "pg";
import { MigrationError } from "./migration-error.ts";

/**
 * @returns a function to call after each file of `migrations/`, with its path; undefined where no process serves, or no table
 *   has rows. It throws MigrationError with the tables that the file has rewritten
 */
export async function watchRewrites(client: pg.Client): Promise<((path: string) => Promise<void>) | undefined> {
  const serving = await servingSessions(client);
  const { rows: tables } = await client.query<{ id: string; file: string }>(
    `select c.oid as id, pg_catalog.pg_relation_filenode(c.oid) as file
       from pg_catalog.pg_class c
       join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and c.relpersistence <> 't' and n.nspname !~ '^(pg_|information_schema$)'
        and pg_catalog.pg_relation_size(c.oid) > 0`,
  );
  if (serving === "" || tables.length === 0) return undefined;
  return async (path) => {
    const { rows } = await client.query<{ name: string }>(
      `select c.oid::regclass::text as name
         from json_to_recordset($1) as was (id oid, file oid)
         join pg_catalog.pg_class c on c.oid = was.id
        where pg_catalog.pg_relation_filenode(c.oid) <> was.file
          and pg_catalog.pg_relation_size(c.oid) > 0 -- otherwise truncated: empty is right
        order by 1`,
      [JSON.stringify(tables)],
    );
    if (rows.length === 0) return;
    const names = rows.map(({ name }) => name).join(", ");
    throw new MigrationError(
      `${path} rewrites ${names} while processes serve (${serving}): calls that wait for it would see it empty. Nothing was changed.`,
      {
        hint: "Stop the processes, migrate, and start them again. Or add a new column instead: docs/how-to/large-tables.md. --allow-rewrites applies it all the same.",
        file: `application/${path}`,
      },
    );
  };
}

/**
 * Those of `svc start` and `svc worker`, not of commands such as `svc db lint`. Empty when there are none. A URL may give its sessions
 * another name (`application_name`): those of requests and sign-in are known by their login too.
 */
async function servingSessions(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ it: string | null }>(
    `select string_agg(distinct s.name, ', ' order by s.name) as it
       from pg_catalog.pg_stat_activity a
      cross join lateral (select coalesce(nullif(a.application_name, ''), a.usename::text) as name) s
      where a.datname = current_database()
        and (a.application_name ~ '^svc (request|system|auth|revocations|realtime|worker)\\M'
          or a.usename in ('svc_request', 'svc_auth') and a.application_name !~ '^svc ')`,
  );
  return rows[0]?.it ?? "";
}
