-- The application's functions that the current transaction has made or replaced. src/migrate/check-application.ts makes each
-- again with its body checked, because files of sql/ are applied without that check.
--
-- Generated functions are left out: `svc codegen` writes them from the schema. So are bodies that PostgreSQL has parsed
-- already (BEGIN ATOMIC).

create or replace function svc_private.functions_made_now()
returns table (definition text, body text)
language sql
stable
set search_path = ''
as $$
  select pg_get_functiondef(p.oid), p.prosrc
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang
   where p.xmin = pg_current_xact_id_if_assigned()::xid
     and l.lanname in ('sql', 'plpgsql')
     and p.prokind in ('f', 'p')
     and p.prosqlbody is null
     and p.proowner = 'svc_owner'::regrole
     and n.nspname not in ('svc', 'svc_crud', 'svc_hidden', 'svc_private', 'auth', 'graphile_worker')
   order by p.oid
$$;

comment on function svc_private.functions_made_now() is
  'The application''s functions that the current transaction has made, with their definitions.';
