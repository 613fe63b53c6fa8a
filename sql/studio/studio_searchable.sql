-- The searchable tables, for Studio's Search lab. `relation` is the name in studio_tables().

create or replace function svc_private.studio_searchable()
returns table (name text, relation text, fields text[], always text)
language sql
stable
security definer
set search_path = ''
as $$
  select s.name, r.name, s.fields, s.always
    from svc_private.list_searchable() s
    join svc_private.relations r on r.oid = to_regclass(s.name)
$$;

comment on function svc_private.studio_searchable() is
  'The searchable tables with their fields. Definer: svc_studio_read has no rights on svc_private.search_tables.';

grant execute on function svc_private.studio_searchable() to svc_studio_read;
