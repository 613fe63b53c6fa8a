-- An operator's sign-out of a user, on one device or on all, with its line in svc.operator_acts. The trigger of
-- auth.session ends JWTs and sockets of these sessions.
--
-- All sessions of an administrator include those in which the administrator acts as other users, and devices that were approved
-- and have not fetched their session yet, as by POST /sign-out-everywhere (src/auth/passwords/passwords.ts). Plugins bring their
-- columns, so these are looked up.

create or replace function svc_private.act_end_sessions(of_user text, only_session text)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  ended integer;
  more integer;
  given record;
begin
  delete from auth.session s where s.user_id = of_user and (only_session is null or s.id = only_session);
  get diagnostics ended = row_count;
  for given in
    select w.one_table, w.name
      from (values ('session', 'impersonated_by'), ('device_code', 'user_id')) as w (one_table, name)
      join pg_catalog.pg_attribute a on a.attrelid = to_regclass('auth.' || w.one_table) and a.attname = w.name
     where only_session is null and not a.attisdropped
  loop
    execute format('delete from auth.%I where %I = $1', given.one_table, given.name) using of_user;
    get diagnostics more = row_count;
    ended := ended + case given.one_table when 'session' then more else 0 end;
  end loop;
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
