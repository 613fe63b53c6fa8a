-- Merges the rows of a bucket into one. Called by svc_private.reserve_upload() for the buckets that it has to add up,
-- and by src/storage/sweep.ts for all of them, once a day.
--
-- Needs no lock: a row that another call has deleted meanwhile is left out, and uncommitted rows are not visible.

create or replace function svc_private.fold_storage_usage(one_bucket text default null)
returns void
language sql
volatile
set search_path = ''
as $$
  with gone as (
    delete from svc_private.storage_usage u
     where one_bucket is null or u.bucket = one_bucket
    returning u.bucket, u.bytes
  )
  insert into svc_private.storage_usage (bucket, bytes)
  select g.bucket, sum(g.bytes) from gone g group by g.bucket having sum(g.bytes) <> 0
$$;

comment on function svc_private.fold_storage_usage(text) is 'Replaces the rows of a bucket, or of every bucket, by their sum.';
