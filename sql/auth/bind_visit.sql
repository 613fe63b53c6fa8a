-- Binds the visit of an administrator (svc.current_actor()) to the session in which it began: the foreign key ends the visit with
-- that session. Called by src/auth/sessions/session-store.ts as svc_auth, when the plugin `admin` has opened the visit.
--
-- The administrator's session may end at the same moment. Its row is locked, so either this finds that it is gone, and ends the
-- visit, or the one who deletes it waits and ends the visit, too.

create or replace function auth.bind_visit(visit_id text, began_in text)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
declare
  lives boolean;
begin
  perform from auth.session s where s.id = bind_visit.began_in for key share;
  lives := found;
  if lives then
    update auth.session s set begun_in = bind_visit.began_in where s.id = bind_visit.visit_id;
  else
    delete from auth.session s where s.id = bind_visit.visit_id;
  end if;
  return lives;
end
$$;

grant execute on function auth.bind_visit(text, text) to svc_auth;

comment on function auth.bind_visit(text, text) is
  'Ends a visit with the session in which it began; false, and the visit is over, if that session has ended.';
