-- Begins an upload, or reserves room for a file that a call is about to store. Called by src/storage/reserve.ts as
-- svc_system, in a separate transaction: others must see a reservation before the bytes arrive, and no lock may last as
-- long as a handler.
--
-- The ids are chosen here, so that no caller can name the id of a file that exists or existed. Callers of one bucket
-- wait for each other during this statement, so that uploads begun at the same moment are all counted. Expired uploads
-- count until they are removed; this function removes them when there seems to be no room.
--
-- The commit of a call's reservation does not wait for the disk, so that others wait less for the lock. A crash of the server
-- may lose it; svc.store_object() then refuses the file, and the call fails. An upload in parts must last, because the client
-- knows it. So must what the system writes: it reserves in the transaction of its handler.

create or replace function svc_private.reserve_upload(
  owner text,           -- null: anonymous, or the system
  by_system boolean,    -- the system has no quota
  kind text,
  name text,
  type text,
  visibility text,
  size bigint,
  lifetime interval,
  unfinished integer,   -- most uploads in parts that the owner may have in progress
  quota bigint,         -- bytes of the owner's bucket; null: no limit
  total_quota bigint    -- bytes of all; null: no limit
)
returns table (id uuid, expires_at timestamptz, refused text)
language plpgsql
volatile
set search_path = ''
as $$
#variable_conflict use_column
declare
  bucket constant text := svc_private.storage_bucket(owner, reserve_upload.by_system);
  more constant bigint := svc_private.counted_size(reserve_upload.size);
  full_one text;
begin
  if not reserve_upload.by_system then
    if reserve_upload.kind = 'call' then
      set local synchronous_commit to off;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('svc.storage_uploads ' || bucket, 0));
    if reserve_upload.kind = 'parts' and (
      select count(*) from svc.storage_uploads u
       where u.user_id = owner and u.kind = 'parts' and u.expires_at > now()) >= unfinished then
      return query select null::uuid, null::timestamptz, 'unfinished';
      return;
    end if;
    if total_quota is not null then
      perform pg_advisory_xact_lock(hashtextextended('svc.storage_uploads all', 0));
    end if;
    for attempt in 1..2 loop
      full_one := case
        when svc_private.stored_bytes(bucket) + more > quota then 'quota'
        when total_quota is not null and svc_private.stored_bytes('all') + more > total_quota then 'total' end;
      exit when full_one is null;
      perform svc_private.expire_uploads(500);
    end loop;
    if full_one is not null then
      return query select null::uuid, null::timestamptz, full_one;
      return;
    end if;
  end if;
  return query
  insert into svc.storage_uploads as u (id, user_id, by_system, kind, name, type, visibility, size, expires_at)
  values (gen_random_uuid(), owner, reserve_upload.by_system, reserve_upload.kind, reserve_upload.name,
          reserve_upload.type, reserve_upload.visibility, reserve_upload.size, now() + lifetime)
  returning u.id, u.expires_at, null::text;
end
$$;

comment on function
  svc_private.reserve_upload(text, boolean, text, text, text, text, bigint, interval, integer, bigint, bigint) is
  'A new upload with its id and expiry, or the reason for refusal: unfinished (too many), quota, total (storage is '
  'full).';
