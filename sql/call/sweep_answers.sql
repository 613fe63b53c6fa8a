-- Removes answers that were kept for longer than a day. Called by workers/tasks/sweep-storage.ts, once a day. It works in batches,
-- so that no transaction lasts long; the caller calls again while there is more.

create or replace function svc_private.sweep_answers(batch integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  removed integer;
begin
  delete from svc_private.kept_answers k
   where k.ctid = any (array(
     select e.ctid from svc_private.kept_answers e
      where e.kept_at < now() - interval '1 day' limit sweep_answers.batch for update skip locked
   ));
  get diagnostics removed = row_count;
  return removed;
end
$$;

comment on function svc_private.sweep_answers(integer) is
  'Removes kept answers that are older than a day, up to a limit; returns their number. '
  'Definer: svc_system has no rights on the table.';
