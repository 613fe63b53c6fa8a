-- The short members of answers that were too large to be kept. Called by src/call/keyed-calls.ts, for a call whose key was claimed
-- by the same call before.
--
-- SECURITY DEFINER, because requests may not access the table.

create or replace function svc.short_answers(key text)
returns text[]
language sql
stable
security definer
set search_path = ''
as $$
  select k.short from svc_private.kept_answers k where k.user_id = svc.current_user_id() and k.key = short_answers.key
$$;

grant execute on function svc.short_answers(text) to svc_request;
revoke execute on function svc.short_answers(text) from svc_system;

comment on function svc.short_answers(text) is
  'The short members of the answers under a key of the current user, where the answers were too large to be kept. '
  'Definer: requests have no rights on the table; it reads the row of the transaction''s user only.';
