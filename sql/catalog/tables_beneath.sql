-- The tables that a view reads, also through other views. For svc_private.list_access_rules() and the linter.

create or replace function svc_private.tables_beneath(view regclass)
returns table (name text, as_caller boolean)
language sql
stable
set search_path = ''
as $$
  with recursive below (oid, kind, as_caller) as (
    select view::oid, 'v'::"char", true
    union
    select c.oid, c.relkind,
           b.as_caller and coalesce((
             select o.value::boolean from pg_catalog.pg_options_to_table(reader.reloptions) as o (name, value)
              where o.name = 'security_invoker'), false)
      from below b
      join pg_catalog.pg_class reader on reader.oid = b.oid
      join pg_catalog.pg_rewrite w on w.ev_class = b.oid
      join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = w.oid
       and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> b.oid
      join pg_catalog.pg_class c on c.oid = d.refobjid
     where b.kind in ('v', 'm')
  )
  select format('%I.%I', n.nspname, c.relname), bool_and(b.as_caller)
    from below b
    join pg_catalog.pg_class c on c.oid = b.oid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where b.kind in ('r', 'p', 'f')
   group by 1
$$;

comment on function svc_private.tables_beneath(regclass) is
  'Tables that a view reads, and whether with the rights of its caller: the view, and each view between, has security_invoker.';
