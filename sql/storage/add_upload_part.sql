-- Records a part after its bytes are stored. Called by src/storage/upload-parts.ts as svc_system.
--
-- Where the upload has a part of this name, the bytes were written behind it, and the hash is that of all of the part.
--
-- Of two parts that begin at the same byte one is recorded, and the caller removes the bytes of the other: no lock is
-- held while bytes arrive.

create or replace function svc_private.add_upload_part(
  upload uuid, owner text, start bigint, size bigint, name text, sha256 text, lifetime interval
)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
begin
  update svc.storage_uploads u
     set received = u.received + add_upload_part.size, parts = u.parts + 1, expires_at = least(now() + lifetime, u.created_at + interval '30 days')
   where u.id = upload and u.user_id = owner and u.kind = 'parts' and u.expires_at > now()
     and u.received = add_upload_part.start and u.received + add_upload_part.size <= u.size and u.parts < 10000;
  if not found then
    return false;
  end if;
  update svc.storage_upload_parts p
     set size = p.size + add_upload_part.size, sha256 = add_upload_part.sha256
   where p.upload_id = upload and p.name = add_upload_part.name;
  if not found then
    insert into svc.storage_upload_parts (upload_id, start, size, name, sha256)
    values (upload, add_upload_part.start, add_upload_part.size, add_upload_part.name, add_upload_part.sha256);
  end if;
  return true;
end
$$;

comment on function svc_private.add_upload_part(uuid, text, bigint, bigint, text, text, interval) is
  'Whether the bytes begin where the upload continues; an upload accepts bytes at most 10,000 times.';
