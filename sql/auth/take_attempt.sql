-- Counts an attempt before it is made, under each of several limits: all of them or none. Called by
-- src/auth/passwords/attempt-counters.ts as svc_auth.
--
-- One call is one transaction, and the rows stay locked until its end: of a hundred attempts at the same moment, only
-- as many as the limit still allows succeed. Rows are locked in one order, so that calls do not deadlock. A refused
-- attempt is not counted: a window ends at its original time, however many attempts follow.
--
-- A window that begins later than now is of a time before the clock was set back: it has ended. The minute is for calls that waited
-- for the row, whose moment is earlier than that of the window's first call.
--
-- While auth.remember_address() keeps a known subject, that subject is counted instead of the usual one: failures from
-- elsewhere do not lock the owner out at home. For the limits of all callers together, 'mails' and 'texts', all these subjects are
-- one count, 'known': strangers cannot use up what goes to accounts where these have signed in.
--
-- One call in fifty removes expired rows, twice as many as fifty calls add; no other cleanup is needed. Rows that were removed stay in the
-- index until a vacuum, and a dump or a forgotten transaction holds that back: if every call searched, each would read all of them, and
-- after 10,000 calls one took 6 ms.

create or replace function auth.take_attempt(
  kinds text[],
  subjects text[],
  known_subjects text[],  -- null: none
  limits integer[],
  seconds integer[]       -- how long a window lasts
)
returns table (
  wait_seconds integer,   -- 0: counted; otherwise how long to wait
  receipt jsonb           -- what auth.give_back_attempt() needs, and which limits are reached
)
language plpgsql
volatile
set search_path = ''
as $$
declare
  entry record;
  row_count integer;
  row_ends_at timestamptz;
  moment constant timestamptz := clock_timestamp();
  latest constant timestamptz := moment + interval '1 minute';
  counted jsonb := '[]';
  reached jsonb := '[]';
begin
  wait_seconds := 0;
  for entry in
    select t.kind, t.most, make_interval(secs => t.span) as span,
           coalesce(
             (select case when a.kind = t.kind then a.subject else 'known' end
                from auth.attempt a
               where a.kind = case when t.kind in ('mails', 'texts') then 'signInsPerAccount' else t.kind end
                 and a.subject = t.known and a.kept_until > moment),
             t.subject
           ) as subject
      from unnest(kinds, subjects, known_subjects, limits, seconds) as t (kind, subject, known, most, span)
     order by t.kind, subject
  loop
    insert into auth.attempt as a (kind, subject, count, began_at, ends_at, kept_until)
    values (entry.kind, entry.subject, 1, moment, moment + entry.span, moment + entry.span)
    on conflict (kind, subject) do update
      set count = case when a.ends_at <= moment or a.began_at > latest then 1 else a.count + 1 end,
          began_at = case when a.ends_at <= moment or a.began_at > latest then moment else a.began_at end,
          ends_at = case when a.ends_at <= moment or a.began_at > latest then excluded.ends_at else a.ends_at end,
          kept_until = greatest(a.kept_until,
            case when a.ends_at <= moment or a.began_at > latest then excluded.ends_at else a.ends_at end)
    returning a.count, a.ends_at into row_count, row_ends_at;

    if row_count > entry.most then
      wait_seconds := greatest(wait_seconds, 1, ceil(extract(epoch from row_ends_at - moment)));
      reached := reached || to_jsonb(entry.kind);
    end if;
    counted := counted || jsonb_build_object('kind', entry.kind, 'subject', entry.subject);
  end loop;

  receipt := jsonb_build_object('counted', counted, 'at', clock_timestamp(), 'reached', reached);
  if wait_seconds > 0 then
    perform auth.give_back_attempt(receipt);
  end if;

  if random() < 0.02 then
    delete from auth.attempt a
     where a.ctid = any (array(
       select old.ctid from auth.attempt old
        where old.kept_until < moment
        order by old.kept_until
        limit 100 * cardinality(kinds)
          for update skip locked
     ));
  end if;

  return next;
end
$$;

grant execute on function auth.take_attempt(text[], text[], text[], integer[], integer[]) to svc_auth;

comment on function auth.take_attempt(text[], text[], text[], integer[], integer[]) is
  'Counts an attempt under each limit, or under none if one of them is reached; then returns how many seconds to wait.';
