-- The registered crons with the time that was claimed last and its job, by name. Called by `svc crons list`.

create or replace function svc_private.list_crons()
returns table (name text, last_slot timestamptz, last_job text)
language sql
stable
set search_path = ''
as $$
  select c.name, c.last_slot, c.last_job::text from svc_private.crons c order by c.name
$$;

comment on function svc_private.list_crons() is 'The registered crons, with the time that was claimed last and its job.';
