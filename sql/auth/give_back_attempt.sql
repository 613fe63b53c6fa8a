-- Uncounts an attempt that succeeded or was not made. Called by auth.take_attempt(), auth.open_session() and
-- src/auth/passwords/attempt-counters.ts, as svc_auth.
--
-- A window that began after the attempt was counted does not contain it: uncounting it there would allow one more try.

create or replace function auth.give_back_attempt(receipt jsonb)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  entry record;
  taken_at constant timestamptz := receipt ->> 'at';
begin
  -- In the order in which auth.take_attempt() locks.
  for entry in
    select c.kind, c.subject from jsonb_to_recordset(receipt -> 'counted') as c (kind text, subject text) order by 1, 2
  loop
    update auth.attempt a
       set count = a.count - 1
     where a.kind = entry.kind and a.subject = entry.subject and a.began_at <= taken_at and a.count > 0;
  end loop;
end
$$;

grant execute on function auth.give_back_attempt(jsonb) to svc_auth;

comment on function auth.give_back_attempt(jsonb) is
  'Undoes what auth.take_attempt() counted, in the windows in which it was counted.';
