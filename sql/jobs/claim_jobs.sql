-- Gives a worker as many due jobs as it can begin now, one claim after the other. Called by workers/queue-pool.ts, in
-- one statement for all that have a job to look for at that moment: each round trip costs both sides more than a claim.
--
-- Runs as svc_system, like svc_private.claim_job.

-- An earlier version of svc gives the last argument a default, which "or replace" could not take away.
drop function if exists svc_private.claim_jobs(text, integer[], integer, timestamptz);

create or replace function svc_private.claim_jobs(worker text, kinds integer[], most integer, since timestamptz)
returns setof graphile_worker._private_jobs
language plpgsql
volatile
set search_path = ''
as $$
begin
  for _ in 1 .. most loop
    return query select * from svc_private.claim_job(worker, kinds, since);
    exit when not found;
  end loop;
end
$$;

comment on function svc_private.claim_jobs(text, integer[], integer, timestamptz) is
  'Gives the worker the most urgent due jobs of these kinds, at most so many.';

-- For workers of earlier versions of svc, which a release replaces or brings back.
create or replace function svc_private.claim_jobs(worker text, kinds integer[], most integer)
returns setof graphile_worker._private_jobs
language sql
volatile
set search_path = ''
as $$
  select * from svc_private.claim_jobs(worker, kinds, most, null)
$$;

comment on function svc_private.claim_jobs(text, integer[], integer) is
  'Gives jobs to a worker of an earlier version of svc.';
