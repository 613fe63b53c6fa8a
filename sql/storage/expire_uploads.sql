-- Removes uploads that were not finished in time, at most a given number in one transaction. Called by
-- src/storage/sweep.ts as svc_system, which removes their bytes.
--
-- A request that is sending to a signed URL may continue for a day after the URL's expiry.

create or replace function svc_private.expire_uploads(most integer)
returns setof uuid
language sql
volatile
set search_path = ''
as $$
  delete from svc.storage_uploads u
   where u.id = any (array(
     select e.id from svc.storage_uploads e
      where e.expires_at < now() and (e.claimed_at is null or e.claimed_at < now() - interval '1 day')
      limit most for update skip locked
   ))
  returning u.id
$$;

comment on function svc_private.expire_uploads(integer) is 'Removes expired uploads, up to a limit, and returns them.';
