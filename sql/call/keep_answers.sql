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
     set answers = case when s.fits then keep_answers.answers end,
         short = case when not s.fits then array(
           select svc_private.short_answer(o.answer)
             from unnest(keep_answers.answers) with ordinality o (answer, place) order by o.place) end
    from (select sum(octet_length(a)) <= 1048576 as fits from unnest(keep_answers.answers) a) s
   where k.user_id = svc.current_user_id() and k.key = keep_answers.key and k.answers is null and k.short is null
$$;

grant execute on function svc.keep_answers(text, text[]) to svc_request;
revoke execute on function svc.keep_answers(text, text[]) from svc_system;

comment on function svc.keep_answers(text, text[]) is
  'Keeps the answers of a call under the key that its transaction has claimed, up to 1 MiB; of larger ones the short members. '
  'Definer: requests have no rights on the table; it writes the row of the transaction''s user only.';
