-- Removes jobs of workflow runs that a worker holds and that were replaced meanwhile: when a run is woken while a worker
-- holds its job, that job loses its key, and the run gets another one (svc_private.add_job). Called before the jobs of a
-- worker return to the queue. Without an attempt left such a job would stay there as a dead one, and an operator would look at it for
-- nothing. With one it would take the run from the worker that runs it.

create or replace function svc_private.remove_replaced_jobs(worker text, only_job bigint default null)
returns bigint
language sql
volatile
set search_path = ''
as $$
  with removed as (
    delete from graphile_worker._private_jobs j
     where j.locked_by = remove_replaced_jobs.worker and (only_job is null or j.id = only_job)
       and j.key is null and j.payload ->> 'runId' is not null
    returning j.id
  )
  select count(*) from removed
$$;

revoke execute on function svc_private.remove_replaced_jobs(text, bigint) from svc_system;

comment on function svc_private.remove_replaced_jobs(text, bigint) is
  'Removes jobs of runs that a worker holds and that another job of the run has replaced; returns their number.';
