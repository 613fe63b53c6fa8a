-- What the jobs and runs that are not done need from the application's code: internal procedures and versions of workflows,
-- with the number of jobs or runs. Called by `svc doctor`, which names those that the code does not have. Dead jobs do not
-- count. It reads the whole queue.

create or replace function svc_private.list_unfinished_work()
returns table (kind text, name text, version integer, number bigint)
language sql
stable
set search_path = ''
as $$
  select 'procedure', j.payload ->> 'procedure', null::integer, count(*)
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
   where t.identifier = 'procedure' and j.attempts < j.max_attempts
   group by 2
  union all
  select 'workflow', r.name, r.version, count(*)
    from svc.workflow_runs r
   where r.status in ('pending', 'running')
   group by 2, 3
   order by 1, 2, 3
$$;

comment on function svc_private.list_unfinished_work() is
  'Internal procedures and versions of workflows that jobs and runs need, with the number of these.';
