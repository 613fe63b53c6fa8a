-- The rules of access that Studio shows: those of `svc policies` (sql/catalog/list_access_rules.sql).

create or replace function svc_private.studio_access(one_table text)
returns setof json
language sql
stable
security definer
set search_path = ''
as $$
  select to_json(a)
    from svc_private.list_access_rules(to_regclass(one_table)) a
   where one_table is null or to_regclass(one_table) is not null
$$;

comment on function svc_private.studio_access(text) is
  'Grants and policies for each table, request role and command; one table, or all. '
  'Definer: svc_studio_read may not read the views of svc_private.';

grant execute on function svc_private.studio_access(text) to svc_studio_read;
