-- Adds a worker to those that could not run a job and returned it, the last 20 of them. svc_private.claim_job gives the job
-- to others for two seconds before it gives it to one of these again: workers look for jobs once a second, each at its own
-- moment, and one that always looks shortly before the others would always be first. Called by svc_private.postpone_job and
-- svc_private.pass_on_run.

create or replace function svc_private.left_by(flags jsonb, worker text)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select case when jsonb_array_length(others) < 20 then others else others - 0 end || to_jsonb(worker)
    from (select coalesce(flags -> 'left_by', '[]') - worker) as l (others)
$$;

revoke execute on function svc_private.left_by(jsonb, text) from svc_system;

comment on function svc_private.left_by(jsonb, text) is 'The workers that returned a job with these flags, and this one.';
