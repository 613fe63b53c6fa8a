-- Which role may do what to which rows: for each table, request role and command the grant, and the policies that
-- apply. A command needs both. Called by `svc policies` and `svc rls explain`.
--
-- A view has no policies. With security_invoker its reader needs those of the tables beneath it; has_rls is true then.
--
-- For the new row of an insert or an update the condition is WITH CHECK, or USING where there is none.

-- Its name in earlier versions, with fewer columns.
drop function if exists svc_private.list_access(regclass);

create or replace function svc_private.list_access_rules(one_table regclass default null)
returns table (
  relation oid, name text, is_platform boolean, has_rls boolean, role text, command text, granted text,
  policies jsonb,  -- [{name, permissive, using, check, says}]
  kind text,       -- table, view
  beneath text[]   -- of a view: the tables that it reads, also through other views
)
language sql
stable
set search_path = ''
as $$
  select r.oid, r.name, r.is_platform,
         case when r.kind in ('r', 'p') then r.has_rls else coalesce(beneath.as_caller, true) end,
         role.name, asked.command,
         case when has_table_privilege(role.name, r.oid, asked.command) then 'all'
              when asked.command <> 'delete' and has_any_column_privilege(role.name, r.oid, asked.command) then (
                select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
                  from pg_catalog.pg_attribute a
                 where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
                   and has_column_privilege(role.name, r.oid, a.attnum, asked.command)) end,
         coalesce((
           select jsonb_agg(jsonb_build_object(
                    'name', p.policy, 'permissive', p.permissive,
                    'using', case when asked.command <> 'insert' then p.using_text end,
                    'check', case when asked.command in ('insert', 'update') then coalesce(p.check_text, p.using_text) end,
                    'says', pg_catalog.obj_description(p.oid, 'pg_policy')) order by p.policy)
             from svc_private.policy_rules p
            where p.relid = r.oid and p.command in ('all', asked.command)
              and (p.for_everybody or role.name = any (p.roles))), '[]'),
         case when r.kind in ('r', 'p') then 'table' else 'view' end, beneath.tables
    from svc_private.relations r
    left join lateral (
      select array_agg(b.name order by b.name) as tables, bool_and(b.as_caller) as as_caller
        from svc_private.tables_beneath(r.oid) b
    ) beneath on r.kind in ('v', 'm')
   cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
   cross join unnest('{select,insert,update,delete}'::text[]) as asked (command)
   where (r.kind in ('r', 'p') or r.kind in ('v', 'm') and asked.command = 'select')
     and (r.oid = one_table
          -- Requests reach a partition through its table, unless somebody has granted more.
          or one_table is null and (
            not exists (select from pg_catalog.pg_class c where c.oid = r.oid and c.relispartition)
            or has_any_column_privilege('svc_anonymous', r.oid, 'select, insert, update')
            or has_any_column_privilege('svc_authenticated', r.oid, 'select, insert, update')
            or has_table_privilege('svc_anonymous', r.oid, 'delete')
            or has_table_privilege('svc_authenticated', r.oid, 'delete')))
   order by r.name, role.name, array_position('{select,insert,update,delete}', asked.command)
$$;

comment on function svc_private.list_access_rules(regclass) is
  'For each table or view, request role and command: "all", the columns that are granted, or null; and the policies that '
  'apply, or the tables beneath.';
