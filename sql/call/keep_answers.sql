-- Keeps the answers of a mutation whose key svc.claim_key() has claimed. Called by src/call/keyed-calls.ts, as the last statement
-- before COMMIT.
--
-- SECURITY DEFINER, for the reason of svc.claim_key().

create or replace function svc.keep_answers(key text, answers text[])
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  update svc_private.kept_answers k
     set answers = keep_answers.answers
   where k.user_id = svc.current_user_id() and k.key = keep_answers.key
     and k.answers is null
     and (select sum(octet_length(a)) from unnest(keep_answers.answers) as a) <= 1048576
$$;

grant execute on function svc.keep_answers(text, text[]) to svc_request;
revoke execute on function svc.keep_answers(text, text[]) from svc_system;

comment on function svc.keep_answers(text, text[]) is
  'Keeps the answers of a call under the key that its transaction has claimed, up to 1 MiB. '
  'Definer: requests have no rights on the table; it writes the row of the transaction''s user only.';
