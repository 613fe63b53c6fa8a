-- Keeps svc_private.storage_usage correct. Triggers on svc.storage_objects and svc.storage_uploads (made by migration
-- 0026) call it for each statement that adds or removes rows, also by cascade and by SQL of the application.
--
-- SECURITY DEFINER, because a request deletes its own files but may not write the counters. An upload that becomes a
-- stored file leaves one table and enters the other in one transaction, so it is never counted twice.

create or replace function svc_private.count_stored_bytes()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  insert into svc_private.storage_usage (bucket, bytes)
  select b.bucket, sum(svc_private.counted_size(c.size)) * case tg_op when 'INSERT' then 1 else -1 end
    from changed c
   cross join lateral (values ('all'), (svc_private.storage_bucket(c.user_id, c.by_system))) b (bucket)
   group by b.bucket;
  return null;
end
$$;

comment on function svc_private.count_stored_bytes() is
  'Records how many bytes a statement added or removed, by bucket. '
  'Definer: a trigger; the role that stores a file may not write the counters.';
