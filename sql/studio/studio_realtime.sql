-- What realtime reads the log with, for Studio: the slots and their limits, and the tables whose changes are published.

create or replace function svc_private.studio_realtime()
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select json_build_object(
           'state', (select to_json(r) from svc_private.replication_state() r),
           'tables', (
             select coalesce(json_agg(t order by t.name), '[]')
               from (select r.name,
                            case c.relreplident when 'f' then 'every column' when 'n' then 'nothing'
                                                when 'i' then 'columns of an index' else 'the primary key' end as identity
                       from pg_catalog.pg_publication_rel p
                       join svc_private.relations r on r.oid = p.prrelid
                       join pg_catalog.pg_class c on c.oid = r.oid) t))
$$;

comment on function svc_private.studio_realtime() is
  'Replication slots with their limits, and the published tables with what identifies a changed row. '
  'Definer: svc_studio_read may not read the views of svc_private.';

grant execute on function svc_private.studio_realtime() to svc_studio_read;
