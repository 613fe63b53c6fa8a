-- Registered crons and their last jobs, for `svc crons list`. Read as svc_system, which no policy restricts.

create or replace function svc_private.list_crons()
returns table (name text, last_slot timestamptz, last_job text, paused_at timestamptz)
language sql
stable
set search_path = ''
as $$
  select c.name, c.last_slot, c.last_job::text, c.paused_at from svc_private.crons c order by c.name
$$;

comment on function svc_private.list_crons() is
  'Registered crons, with the time and the job of their last run, and since when they are paused.';
