-- Merges the rows of a bucket into one. Called by svc_private.stored_bytes() for a bucket of many rows, and
-- by src/storage/sweep.ts for all of them, once a day.
--
-- Needs no lock: a row that another call has deleted meanwhile is left out, and uncommitted rows are not visible.

create or replace function svc_private.fold_storage_usage(one_bucket text default null)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  if one_bucket is null then
    perform svc_private.fold_storage_usage(many.bucket)
       from (select u.bucket from svc_private.storage_usage u group by u.bucket having count(*) > 1) many;
    return;
  end if;
  with gone as (
    delete from svc_private.storage_usage u where u.bucket = one_bucket returning u.bytes
  )
  insert into svc_private.storage_usage (bucket, bytes)
  select one_bucket, sum(g.bytes) from gone g having sum(g.bytes) <> 0;
end
$$;

comment on function svc_private.fold_storage_usage(text) is 'Replaces the rows of a bucket, or of every bucket, by their sum.';
