-- svc_private.tell_run() under its former name: for calls of an earlier version's functions that are under way when
-- `svc migrate` commits.

create or replace function svc_private.announce_run(run_id uuid, user_id text)
returns void
language sql
volatile
set search_path = ''
as $$
  select svc_private.tell_run(run_id, user_id)
$$;

revoke execute on function svc_private.announce_run(uuid, text) from svc_system;

comment on function svc_private.announce_run(uuid, text) is
  'Notifies the user''s subscribers, called by a function of an earlier version of svc.';
