-- Gives room back that a call reserved and did not use, because it failed. Called by src/storage/context.ts as svc_system
-- after the call; what a process that died leaves behind expires.

create or replace function svc_private.release_reservations(ids uuid[])
returns void
language sql
volatile
set search_path = ''
as $$
  delete from svc.storage_uploads u where u.id = any (ids) and u.kind = 'call'
$$;

comment on function svc_private.release_reservations(uuid[]) is 'Removes reservations that became neither a file nor a URL.';
