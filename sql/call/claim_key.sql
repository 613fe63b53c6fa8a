-- Claims the idempotency key of a mutation for its user, in the mutation's transaction and before anything else runs in it.
-- Called by src/call/keyed-calls.ts.
--
-- A key that another transaction has claimed makes this one wait for its end. If that rolled back, the key is free again. If
-- it committed, its row says what was called and what was answered.
--
-- SECURITY DEFINER, because requests may not access the table: a user could forge answers of later calls. Only the requests'
-- login may execute it, never its roles (see svc.enqueue_job).

create or replace function svc.claim_key(key text, call bytea)
returns table (is_new boolean, is_same boolean, answers text[])
language plpgsql
volatile
security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  insert into svc_private.kept_answers (user_id, key, call)
  values (svc.current_user_id(), claim_key.key, claim_key.call)
  on conflict do nothing;
  if found then
    return query select true, true, null::text[];
    return;
  end if;
  return query
    select false, k.call = claim_key.call, case when k.call = claim_key.call then k.answers end
      from svc_private.kept_answers k
     where k.user_id = svc.current_user_id() and k.key = claim_key.key;
end
$$;

grant execute on function svc.claim_key(text, bytea) to svc_request;
revoke execute on function svc.claim_key(text, bytea) from svc_system;

comment on function svc.claim_key(text, bytea) is
  'Claims an idempotency key for the current user, or returns the answers of the call that has used it. No row: that call was '
  'removed meanwhile. Definer: requests have no rights on the table; it reads and writes rows of the transaction''s user only.';
