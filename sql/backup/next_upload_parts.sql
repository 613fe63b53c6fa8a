-- The parts that have arrived of uploads in progress, in the order of their keys, starting after a key. Called by
-- src/backup/copy-files.ts in the snapshot of a backup, first with nulls, then with the last key.

create or replace function svc_private.next_upload_parts(after_upload uuid, after_start bigint, most integer)
returns table (upload_id uuid, start bigint, size bigint, name text, sha256 text)
language sql
stable
set search_path = ''
as $$
  select p.upload_id, p.start, p.size, p.name, p.sha256
    from svc.storage_upload_parts p
   -- With "or", the index would not be entered at this key.
   where (p.upload_id, p.start) > (coalesce(after_upload, '00000000-0000-0000-0000-000000000000'), coalesce(after_start, -1))
   order by p.upload_id, p.start
   limit most
$$;

comment on function svc_private.next_upload_parts(uuid, bigint, integer) is
  'The parts after this one, up to a limit, with the expected size and hash of their bytes.';
