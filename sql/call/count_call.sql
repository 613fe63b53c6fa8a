-- Counts a call under a limit of the application, before it is made. Called by src/call/rate-limit.ts, on a connection of its own:
-- a call that fails later stays counted.
--
-- The row is locked until the end of the statement: of a hundred calls at the same moment, only as many as the limit still
-- allows succeed. A refused call is not counted and writes nothing: a window ends at its original time, however many calls follow.
--
-- A window that ends later than one that begins now is of a time before the clock was set back: it has ended. The minute is for calls
-- that waited for the row, whose moment is earlier than that of the window's first call.
--
-- One call in fifty removes expired rows, twice as many as fifty calls add; no other cleanup is needed. Rows that were removed stay in the
-- index until a vacuum, and a dump or a forgotten transaction holds that back: if every call searched, each would read all of them, and
-- after 20,000 calls one took 5 ms.

create or replace function svc_private.count_call(name text, seconds integer, subject text, calls integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  moment constant timestamptz := clock_timestamp();
  latest constant timestamptz := moment + make_interval(secs => count_call.seconds, mins => 1);
begin
  insert into svc_private.call_counts as c (name, seconds, subject, count, ends_at)
  values (
    count_call.name, count_call.seconds, count_call.subject, 1, moment + make_interval(secs => count_call.seconds)
  )
  on conflict (name, seconds, subject) do update
    set count = case when c.ends_at between moment and latest then c.count + 1 else 1 end,
        ends_at = case when c.ends_at between moment and latest then c.ends_at else excluded.ends_at end
  where c.ends_at not between moment and latest or c.count < count_call.calls;

  if not found then
    return (
      select greatest(1, ceil(extract(epoch from max(c.ends_at) - moment)))  -- 1 if another call has just removed the row
        from svc_private.call_counts c
       where c.name = count_call.name and c.seconds = count_call.seconds and c.subject = count_call.subject);
  end if;

  if random() < 0.02 then
    delete from svc_private.call_counts c
     where c.ctid = any (array(
       select old.ctid from svc_private.call_counts old
        where old.ends_at < moment
        order by old.ends_at
        limit 100
          for update skip locked
     ));
  end if;
  return 0;
end
$$;

comment on function svc_private.count_call(text, integer, text, integer) is
  'Counts a call of a subject under a limit of the application and returns 0; or returns how many seconds to wait, if the limit is '
  'reached. Definer: svc_system has no rights on the table.';
