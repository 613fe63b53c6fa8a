-- Corrects svc_private.storage_usage where it differs from the rows of files and uploads. Called by src/storage/sweep.ts,
-- once a day.
--
-- The triggers (svc_private.count_stored_bytes) count what is inserted and deleted. They do not see an update of
-- user_id, with which an operator gives files to another user, TRUNCATE, or rows that were loaded while triggers were off.
--
-- Adds what is missing instead of replacing the rows, and reads everything in one snapshot: so other transactions may write
-- files and fold counters meanwhile. Only two corrections wait for each other: both would add the same.

create or replace function svc_private.recount_stored_bytes()
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('svc_private.storage_usage', 0));
  insert into svc_private.storage_usage (bucket, bytes)
  select c.bucket, sum(c.bytes)
    from (
      select b.bucket, svc_private.counted_size(f.size) as bytes
        from (
          select o.user_id, o.by_system, o.size from svc.storage_objects o
          union all
          select u.user_id, u.by_system, u.size from svc.storage_uploads u
        ) as f
       cross join lateral (values ('all'), (svc_private.storage_bucket(f.user_id, f.by_system))) b (bucket)
      union all
      select u.bucket, -u.bytes from svc_private.storage_usage u
    ) as c
   group by c.bucket
  having sum(c.bytes) <> 0;
end
$$;

comment on function svc_private.recount_stored_bytes() is
  'Corrects the counted bytes of files and uploads, by bucket, from their rows.';
