-- Does in one transaction what a worker has to write for several runs at the same time: first claims, checkpoints, and
-- ends of completed runs. Called by src/workflows/run-calls.ts: a transaction of its own costs each of them more than its
-- work here does.
--
-- Answers in the order of the calls: [{"claim": …}, {}, null, …]. Null says that the call has to be made alone, by the
-- function that it stands for here, because it could wait and would hold up the others: another transaction has locked
-- the run, its claim reads checkpoints, or its workflow limits how many of its runs may run at a time. If a call
-- raises an error, none of them has happened.
create or replace function svc_private.advance_runs(calls json)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  call record;
  answers json[] := '{}';
begin
  for call in
    select * from json_to_recordset(calls) as c (
      kind text, run uuid, fence bigint, place text, step text, result text, failure text, began timestamptz, job bigint,
      worker text)
  loop
    perform from svc.workflow_runs r
      where r.id = call.run and r.max_running is null and (call.kind <> 'claim' or r.started_at is null)
        for no key update skip locked;
    if not found then
      answers := answers || null::json;
    elsif call.kind = 'claim' then
      answers := answers || json_build_object('claim', svc_private.claim_run(call.run, null, null, '{}', null));
    elsif call.kind = 'step' then
      perform svc.record_step(call.run, call.fence, call.place, call.step, call.result::json, call.failure::json, call.began);
      answers := answers || json '{}';
    else
      perform svc_private.end_run(call.run, call.fence, 'completed', call.result::json, null, null);
      perform svc.finish_job(call.job, call.worker);
      answers := answers || json '{}';
    end if;
  end loop;
  return array_to_json(answers);
end
$$;

comment on function svc_private.advance_runs(json) is
  'Claims, records steps of, and ends several runs; null in the answer for a call that has to be made alone. '
  'Definer: svc_system has no rights on the queue''s tables.';
