-- An operator's sign-out of a user, on one device or on all, with its line in svc.operator_acts. The trigger of
-- auth.session ends JWTs and sockets of these sessions.

create or replace function svc_private.act_end_sessions(of_user text, only_session text)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  ended integer;
begin
  delete from auth.session s where s.user_id = of_user and (only_session is null or s.id = only_session);
  get diagnostics ended = row_count;
  if ended > 0 then
    perform svc_private.note_act('act_end_sessions',
      jsonb_strip_nulls(jsonb_build_object('user', of_user, 'session', only_session)), ended || ' ended');
  end if;
  return ended;
end
$$;

comment on function svc_private.act_end_sessions(text, text) is
  'Ends one session of a user, or all, and writes the act; the number of them, and no line when it is 0. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_end_sessions(text, text) to svc_studio_act;
