-- Begins an upload in parts. Called by src/storage/uploads.ts as svc_system, with the id of a signed-in caller.
--
-- The policies of svc.storage_objects are checked as that caller before the first byte arrives, by inserting the row and
-- rolling it back: nobody sends a gigabyte that is then refused. They are checked again when the file is stored, as the
-- user.

create or replace function svc_private.start_upload(
  owner text, name text, type text, visibility text, size bigint, lifetime interval, unfinished integer, quota bigint,
  total_quota bigint, identity text
)
returns table (id uuid, expires_at timestamptz, refused text)
language plpgsql
volatile
set search_path = ''
as $$
#variable_conflict use_column
declare
  wanted svc.storage_uploads;
begin
  wanted.user_id := owner;
  wanted.by_system := false;
  wanted.id := gen_random_uuid();
  wanted.name := start_upload.name;
  wanted.type := start_upload.type;
  wanted.visibility := start_upload.visibility;
  perform svc_private.act_for(identity);
  perform svc_private.try_to_store(wanted, start_upload.size);
  return query
  select r.id, r.expires_at, r.refused
    from svc_private.reserve_upload(owner, false, 'parts', start_upload.name, start_upload.type, start_upload.visibility,
      start_upload.size, lifetime, unfinished, quota, total_quota) r;
end
$$;

comment on function
  svc_private.start_upload(text, text, text, text, bigint, interval, integer, bigint, bigint, text) is
  'A new upload in parts of this user, with its id and expiry; 42501 if a policy refuses it, otherwise as '
  'reserve_upload.';

-- The form that processes of the previous version call.
create or replace function svc_private.start_upload(
  owner text, name text, type text, visibility text, size bigint, lifetime interval, unfinished integer, quota bigint,
  total_quota bigint
)
returns table (id uuid, expires_at timestamptz, refused text)
language sql
volatile
set search_path = ''
as $$
  select * from svc_private.start_upload(owner, name, type, visibility, size, lifetime, unfinished, quota, total_quota, owner)
$$;

comment on function
  svc_private.start_upload(text, text, text, text, bigint, interval, integer, bigint, bigint) is
  'The form of svc_private.start_upload() for processes of the previous version, which know no API keys.';
