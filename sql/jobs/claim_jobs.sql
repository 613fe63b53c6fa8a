-- Gives a worker as many due jobs as it can begin now, one claim after the other. Called by workers/queue-pool.ts, in
-- one statement for all that have a job to look for at that moment: each round trip costs both sides more than a claim.
--
-- Runs as svc_system, like svc_private.claim_job.

create or replace function svc_private.claim_jobs(
  worker text, kinds integer[], most integer, since timestamptz default null
)
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
