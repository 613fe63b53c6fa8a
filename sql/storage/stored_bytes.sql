-- The number of bytes that count for a bucket. Called by svc_private.reserve_upload(), under the lock of the bucket.

create or replace function svc_private.stored_bytes(of_bucket text)
returns bigint
language plpgsql
volatile
set search_path = ''
as $$
declare
  total bigint;
  changes bigint;
begin
  select coalesce(sum(u.bytes), 0), count(*) into total, changes
    from svc_private.storage_usage u where u.bucket = of_bucket;
  if changes > 64 then
    perform svc_private.fold_storage_usage(of_bucket);
  end if;
  return total;
end
$$;

comment on function svc_private.stored_bytes(text) is 'Size of the stored files and uploads of a bucket, in bytes.';
