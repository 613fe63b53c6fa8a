-- The tables of the application and the platform, for Studio's list. It counts nothing: the number of rows is the
-- server's estimate.

create or replace function svc_private.studio_tables()
returns table (name text, is_platform boolean, has_rls boolean, estimate bigint, says text)
language sql
stable
security definer
set search_path = ''
as $$
  select r.name, r.is_platform, r.has_rls, nullif(c.reltuples, -1)::bigint, pg_catalog.obj_description(r.oid, 'pg_class')
    from svc_private.relations r
    join pg_catalog.pg_class c on c.oid = r.oid
   where r.kind in ('r', 'p') and not c.relispartition
   order by r.is_platform, r.name
$$;

comment on function svc_private.studio_tables() is
  'Tables with the estimated number of their rows; null where the server has no estimate. '
  'Definer: svc_studio_read may not read the views of svc_private.';

grant execute on function svc_private.studio_tables() to svc_studio_read;
