-- Runs of workflows for Studio, without their arguments and results, which hold data of users: those are read in Data,
-- as the run's user. `next` and `next_id` page: runs that come after this one, which is older.
--
-- Planned for each call: with the status known, the index workflow_runs_failed finds failed runs.

create or replace function svc_private.studio_runs(wanted_status text, wanted_name text, next timestamptz, next_id uuid, most integer)
returns table (
  id uuid, name text, version integer, status text, wait_marker text, caller text, attempts integer, created_at timestamptz,
  wake_at timestamptz, started_at timestamptz, finished_at timestamptz, error text
)
language plpgsql
stable
security definer
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select r.id, r.name, r.version::integer, r.status::text, r.wait_marker,
         case when r.is_system then 'system' else coalesce(r.user_id, 'anonymous') end,
         r.attempts, r.created_at, r.wake_at, r.started_at, r.finished_at,
         left(concat_ws(': ', r.error ->> 'code', r.error ->> 'message'), 500)
    from svc.workflow_runs r
   where (wanted_status is null or r.status = wanted_status) and (wanted_name is null or r.name = wanted_name)
     -- Runs that one transaction starts have the same time.
     and (r.created_at, r.id) < (coalesce(next, 'infinity'), coalesce(next_id, '00000000-0000-0000-0000-000000000000'))
   order by r.created_at desc, r.id desc
   limit most;
end
$$;

comment on function svc_private.studio_runs(text, text, timestamptz, uuid, integer) is
  'Runs of workflows of all users, newest first, without arguments and results. '
  'Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_runs(text, text, timestamptz, uuid, integer) to svc_studio_read;

-- Its form in earlier versions.
create or replace function svc_private.studio_runs(wanted_status text, wanted_name text, next timestamptz, most integer)
returns table (
  id uuid, name text, version integer, status text, wait_marker text, caller text, attempts integer, created_at timestamptz,
  wake_at timestamptz, started_at timestamptz, finished_at timestamptz, error text
)
language sql
stable
security definer
set search_path = ''
as $$
  select * from svc_private.studio_runs(wanted_status, wanted_name, next, null, most)
$$;

comment on function svc_private.studio_runs(text, text, timestamptz, integer) is
  'The same with the time alone, for Studio of earlier versions. Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_runs(text, text, timestamptz, integer) to svc_studio_read;
