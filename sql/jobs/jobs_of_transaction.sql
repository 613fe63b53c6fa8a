-- The jobs that this transaction has enqueued, for a dry run, which rolls them back (src/service/dry-run.ts).
--
-- A row that this transaction sees, and whose writer is in progress, is its own, or that of one of its savepoints. Rows
-- of older writers are left out first, so that the state of few transactions is looked up. It reads the whole queue.
--
-- SECURITY DEFINER, because no request may read the queue's tables. Only the login may execute it.

create or replace function svc.jobs_of_transaction()
returns table (name text, due timestamptz)
language sql
volatile
security definer
set search_path = ''
as $$
  select coalesce(j.payload ->> 'procedure', j.payload ->> 'name', t.identifier), j.run_at
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
   where case when age(j.xmin) <= age(pg_current_xact_id()::xid) then
           pg_xact_status(
             ((pg_current_xact_id()::text::bigint >> 32 << 32) + j.xmin::text::bigint)::text::xid8) = 'in progress'
         end
   order by j.id
$$;

grant execute on function svc.jobs_of_transaction() to svc_request;
revoke execute on function svc.jobs_of_transaction() from svc_system;

comment on function svc.jobs_of_transaction() is
  'Names and times of the jobs that the transaction has enqueued. '
  'Definer: requests have no rights on the queue''s tables; it answers for its own transaction.';
