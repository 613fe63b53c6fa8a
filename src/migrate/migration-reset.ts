/**
 * Drops everything that svc and the application created in a database, for `svc migrate reset`: schemas of svc_owner,
 * and its objects in `public`. Roles, extensions, the database itself and objects of others stay.
 */
import pg from "pg";
import { withClient } from "../postgres/with-client.ts";
import { MigrationError } from "./migration-error.ts";

/**
 * SQL for one transaction. Drops a graphile_worker schema of another owner, too: one created before svc would conflict with
 * ours.
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

  -- Each drop may take later ones along, hence the "if exists".
  for found in
    select case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
             when 'f' then 'foreign table' else 'table' end as kind, c.relname
      from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      join pg_catalog.pg_roles r on r.oid = c.relowner
     where n.nspname = 'public' and r.rolname = 'svc_owner' and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
     order by c.relkind = 'S'
  loop
    execute format('drop %s if exists public.%I cascade', found.kind, found.relname);
  end loop;

  for found in
    select p.oid::regprocedure as name
      from pg_catalog.pg_proc p join pg_catalog.pg_roles r on r.oid = p.proowner
     where p.pronamespace = 'public'::regnamespace and r.rolname = 'svc_owner'
  loop
    execute format('drop routine if exists %s cascade', found.name);
  end loop;

  for found in
    select format('%I.%I', 'public', t.typname) as name
      from pg_catalog.pg_type t join pg_catalog.pg_roles r on r.oid = t.typowner
     where t.typnamespace = 'public'::regnamespace and r.rolname = 'svc_owner' and t.typtype in ('e', 'd', 'c', 'r')
  loop
    execute format('drop type if exists %s cascade', found.name);
  end loop;

  for found in
    select o.type, o.identity
      from (select tableoid, oid, oprowner, oprnamespace from pg_catalog.pg_operator
            union all select tableoid, oid, collowner, collnamespace from pg_catalog.pg_collation
            union all select tableoid, oid, conowner, connamespace from pg_catalog.pg_conversion
            union all select tableoid, oid, cfgowner, cfgnamespace from pg_catalog.pg_ts_config
            union all select tableoid, oid, dictowner, dictnamespace from pg_catalog.pg_ts_dict) x (class, id, owner, place)
      join pg_catalog.pg_roles r on r.oid = x.owner
     cross join lateral pg_catalog.pg_identify_object(x.class, x.id, 0) o
     where x.place = 'public'::regnamespace and r.rolname = 'svc_owner'
  loop
    execute format('drop %s if exists %s cascade', found.type, found.identity);
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
      if (!(cause instanceof pg.DatabaseError) || cause.code !== "55P03") throw cause;
      throw new MigrationError("Another session locks the tables.", { hint: "Stop the service, then reset.", cause });
    }
    await client.query("commit");
  });
}
