/**
 * Drops everything that svc and the application created in a database, for `svc migrate reset`: schemas of svc_owner,
 * and its objects in `public`. Roles, extensions, the database itself and objects of others stay.
 */
import { sqlState } from "../postgres/errors.ts";
import { withClient } from "../postgres/with-client.ts";
import { MigrationError } from "./migration-error.ts";

/**
 * SQL for one transaction. Drops a graphile_worker schema of another owner, too: one created before svc would conflict with ours.
 */
export const dropEverything = `
do $$
declare
  found record;
begin
  for found in
    select n.nspname from pg_catalog.pg_namespace n join pg_catalog.pg_roles r on r.oid = n.nspowner
     where r.rolname = 'svc_owner' or n.nspname = 'graphile_worker'
  loop
    execute format('drop schema %I cascade', found.nspname);
  end loop;

  -- Each drop may take later ones along, hence the "if exists": a table takes its row type and its own sequences.
  for found in
    select case when x.class = 'pg_proc'::regclass then 'routine' else o.type end as kind, o.identity
      from (select tableoid, oid, relowner, relnamespace from pg_catalog.pg_class
             where relkind in ('r', 'p', 'v', 'm', 'S', 'f')
            union all select tableoid, oid, proowner, pronamespace from pg_catalog.pg_proc
            union all select tableoid, oid, typowner, typnamespace from pg_catalog.pg_type
             where typtype in ('e', 'd', 'c', 'r')
            union all select tableoid, oid, oprowner, oprnamespace from pg_catalog.pg_operator
            union all select tableoid, oid, collowner, collnamespace from pg_catalog.pg_collation
            union all select tableoid, oid, conowner, connamespace from pg_catalog.pg_conversion
            union all select tableoid, oid, cfgowner, cfgnamespace from pg_catalog.pg_ts_config
            union all select tableoid, oid, dictowner, dictnamespace from pg_catalog.pg_ts_dict) x (class, id, owner, place)
      join pg_catalog.pg_roles r on r.oid = x.owner
     cross join lateral pg_catalog.pg_identify_object(x.class, x.id, 0) o
     where x.place = 'public'::regnamespace and r.rolname = 'svc_owner'
     order by x.class <> 'pg_class'::regclass, o.type = 'sequence'
  loop
    execute format('drop %s if exists %s cascade', found.kind, found.identity);
  end loop;
end
$$`;

/** The name of the connected database, as the server reports it. */
export const databaseName = (adminUrl: string): Promise<string> =>
  withClient(
    adminUrl,
    "svc migrate reset",
    async (client) => (await client.query("select current_database() as name")).rows[0].name,
  );

/**
 * Drops everything in one transaction.
 *
 * @throws MigrationError when another session locks a table, such as a running service
 */
export async function dropAll(adminUrl: string): Promise<void> {
  await withClient(adminUrl, "svc migrate reset", async (client) => {
    await client.query("begin");
    await client.query("set local lock_timeout = '10s'");
    try {
      await client.query(dropEverything);
    } catch (cause) {
      if (sqlState(cause) !== "55P03") throw cause;
      throw new MigrationError("Another session locks the tables.", { hint: "Stop the service, then reset.", cause });
    }
    await client.query("commit");
  });
}
