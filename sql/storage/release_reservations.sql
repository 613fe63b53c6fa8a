-- Frees the room that a failed call reserved and did not use. Called by src/storage/reserve.ts as svc_system after the
-- call. Reservations of a process that died expire.

create or replace function svc_private.release_reservations(ids uuid[])
returns void
language sql
volatile
set search_path = ''
as $$
  delete from svc.storage_uploads u where u.id = any (ids) and u.kind = 'call'
$$;

comment on function svc_private.release_reservations(uuid[]) is 'Removes reservations that became neither a file nor a URL.';
