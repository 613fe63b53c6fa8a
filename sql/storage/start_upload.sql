-- Begins an upload in parts. Called by src/storage/uploads.ts as svc_system, with a signed-in caller's id.
--
-- Who begins many at the same moment is counted once: calls for one user wait for each other.

create or replace function svc_private.start_upload(
  upload uuid, owner text, name text, type text, visibility text, size bigint, lifetime interval, most integer
)
returns timestamptz
language plpgsql
volatile
set search_path = ''
as $$
declare
  expiry timestamptz := now() + lifetime;
begin
  perform pg_advisory_xact_lock(hashtextextended('svc.storage_uploads ' || owner, 0));
  if (select count(*) from svc.storage_uploads u
       where u.user_id = owner and u.token_sha256 is null and u.expires_at > now()) >= most then
    return null;
  end if;
  insert into svc.storage_uploads (id, user_id, name, type, visibility, size, expires_at)
  values (upload, owner, start_upload.name, start_upload.type, start_upload.visibility, start_upload.size, expiry);
  return expiry;
end
$$;

comment on function svc_private.start_upload(uuid, text, text, text, text, bigint, interval, integer) is
  'When a new upload of this user expires; null, and no upload, when so many of theirs are unfinished.';
