-- Lets an application serialize transactions by a name of its own, for example all bookings of one room. Called in its
-- SQL functions, or by ctx.db.select({ locked: sql`svc.lock(${"room " + id})` }).from(sql`(values (1)) as one`).
--
-- SECURITY DEFINER, because PostgreSQL's own functions are closed to requests (sql/grants.sql): with them a request
-- could take the keys of the platform. Only this function uses the first half of the key, whatever the name is. Two
-- names may have the same hash: then their callers wait for each other without need, with no other effect.
--
-- Any SQL inside a request can take any name, and keep it until its transaction ends or times out. So use a name for
-- waiting, never for permission.

create or replace function svc.lock(name text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if name is null then
    raise exception 'svc.lock() needs a name' using errcode = '22004';
  end if;
  -- A query reads one snapshot from its first statement on: after waiting it would not see what it waited for.
  if pg_catalog.current_setting('transaction_read_only')::boolean then
    raise exception 'svc.lock() cannot be used in a read-only transaction' using errcode = '25006',
      hint = 'Take the lock in a mutation.';
  end if;
  perform pg_catalog.pg_advisory_xact_lock(726502190, pg_catalog.hashtext(name));
end
$$;

grant execute on function svc.lock(text) to svc_anonymous, svc_authenticated;

comment on function svc.lock(text) is
  'Waits until no other transaction holds the lock of this name, and holds it until the transaction ends. '
  'Definer: advisory locks are closed to requests, because the platform''s keys are among them.';
