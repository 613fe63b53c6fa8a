-- Functions, procedures, aggregates and types as facts. Called by list_facts(). Objects of extensions are left out.

create or replace function svc_private.routine_facts()
returns table (object text, kind text, part text, definition text, place integer)
language sql
stable
set search_path = ''
as $$
  with routine as materialized (
    select p.*, 'function ' || p.oid::regprocedure as object
      from pg_catalog.pg_proc p
     where svc_private.is_described(p.pronamespace)
       and not exists (
         select from pg_catalog.pg_depend d
          where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  ), type as materialized (
    select t.*, 'type ' || format('%I.%I', n.nspname, t.typname) as object
      from pg_catalog.pg_type t
      join pg_catalog.pg_namespace n on n.oid = t.typnamespace
      left join pg_catalog.pg_class c on c.oid = t.typrelid
     where svc_private.is_described(t.typnamespace) and (t.typtype in ('e', 'd', 'r') or t.typtype = 'c' and c.relkind = 'c')
       and not exists (
         select from pg_catalog.pg_depend d
          where d.classid = 'pg_catalog.pg_type'::regclass and d.objid = t.oid and d.deptype = 'e')
  )
  select r.object, 'itself', '', 'owner ' || svc_private.role_name(r.proowner), 0 from routine r
  union all
  select r.object, 'definition', '',
         case r.prokind when 'a' then 'aggregate of ' || (
                select a.aggtransfn::regproc::text from pg_catalog.pg_aggregate a where a.aggfnoid = r.oid)
                        else rtrim(pg_catalog.pg_get_functiondef(r.oid), E'\n') end, 0
    from routine r
  union all
  select r.object, 'execute', '', string_agg(svc_private.role_name(a.grantee), ', ' order by svc_private.role_name(a.grantee)), 0
    from routine r, pg_catalog.aclexplode(coalesce(r.proacl, pg_catalog.acldefault('f', r.proowner))) a
   where a.grantee <> r.proowner
   group by r.object
  union all
  select r.object, 'comment', '', d.description, 0
    from routine r
    join pg_catalog.pg_description d on d.classoid = 'pg_catalog.pg_proc'::regclass and d.objoid = r.oid
  union all
  select t.object, 'definition', '',
         case t.typtype
           when 'e' then (select 'enum ' || string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)
                            from pg_catalog.pg_enum e where e.enumtypid = t.oid)
           when 'd' then concat('domain ', pg_catalog.format_type(t.typbasetype, t.typtypmod),
                           case when t.typnotnull then ' not null' end, ' default ' || t.typdefault,
                           (select ' ' || string_agg(pg_catalog.pg_get_constraintdef(k.oid), ' ' order by k.conname)
                              from pg_catalog.pg_constraint k where k.contypid = t.oid and k.contype <> 'n'))
           when 'r' then (select 'range of ' || pg_catalog.format_type(g.rngsubtype, null)
                            from pg_catalog.pg_range g where g.rngtypid = t.oid)
           else (select 'composite ' || string_agg(format('%I %s', a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)), ', '
                          order by a.attnum)
                   from pg_catalog.pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
         end, 0
    from type t
  union all
  select t.object, 'usage', '', string_agg(svc_private.role_name(a.grantee), ', ' order by svc_private.role_name(a.grantee)), 0
    from type t, pg_catalog.aclexplode(coalesce(t.typacl, pg_catalog.acldefault('T', t.typowner))) a
   where a.grantee <> t.typowner
   group by t.object
$$;

comment on function svc_private.routine_facts() is 'Functions and types with their privileges, for list_facts().';
