-- Stored bytes by who they count for, the largest first, for Studio (sql/storage/storage_bucket.sql).

create or replace function svc_private.studio_storage(most integer)
returns table (bucket text, user_id text, email text, bytes numeric)
language sql
stable
security definer
set search_path = ''
as $$
  select b.bucket, u.id, u.email, b.bytes
    from (select s.bucket, sum(s.bytes) as bytes from svc_private.storage_usage s group by 1 order by 2 desc limit most) b
    left join auth."user" u on b.bucket = 'user ' || u.id
   order by b.bytes desc, b.bucket
$$;

comment on function svc_private.studio_storage(integer) is
  'Bytes of stored files and uploads by user, of the system, of anonymous callers and of all. '
  'Definer: svc_studio_read has no rights on svc_private.storage_usage.';

grant execute on function svc_private.studio_storage(integer) to svc_studio_read;
