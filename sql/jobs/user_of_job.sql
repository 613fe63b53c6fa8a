-- The user who scheduled a job, in the form in which sessions show users; null for jobs without one. Called in the
-- statement that claims a job (workers/queue-pool.ts), which saves workers a question per job.
--
-- Volatile, so that it reads after the claim: the transaction that scheduled the job may have created or changed its
-- user too, and may have committed after the statement had begun.
--
-- Never fails, because the claim would fail with it: of arguments with the character NUL, of which json cannot make text,
-- the worker asks for the user by itself.

create or replace function svc_private.user_of_job(payload json)
returns json
language plpgsql
volatile
set search_path = ''
as $$
begin
  if payload #>> '{caller,kind}' is distinct from 'user' then
    return null;
  end if;
  return (select to_json(u) from auth.find_user(payload #>> '{caller,userId}') u);
exception when others then
  return null;
end
$$;

comment on function svc_private.user_of_job(json) is 'The user who scheduled this job, as sessions show users.';
