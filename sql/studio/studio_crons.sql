-- Registered crons, for Studio.

create or replace function svc_private.studio_crons()
returns table (name text, schedule text, last_slot timestamptz, last_job text, paused_at timestamptz)
language sql
stable
security definer
set search_path = ''
as $$
  select c.name, c.schedule, c.last_slot, c.last_job::text, c.paused_at from svc_private.crons c order by c.name
$$;

comment on function svc_private.studio_crons() is
  'Registered crons with their last run, and since when they are paused. '
  'Definer: svc_studio_read has no rights on svc_private.crons.';

grant execute on function svc_private.studio_crons() to svc_studio_read;
