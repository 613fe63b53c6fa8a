-- As svc.lock(), but returns instead of waiting, for example for a cron whose last run has not ended. Everything in
-- sql/access/lock.sql applies here too.

create or replace function svc.try_lock(name text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if name is null then
    raise exception 'svc.try_lock() needs a name' using errcode = '22004';
  end if;
  if pg_catalog.current_setting('transaction_read_only')::boolean then
    raise exception 'svc.try_lock() cannot be used in a read-only transaction' using errcode = '25006',
      hint = 'Take the lock in a mutation.';
  end if;
  return pg_catalog.pg_try_advisory_xact_lock(726502190, pg_catalog.hashtext(name));
end
$$;

grant execute on function svc.try_lock(text) to svc_anonymous, svc_authenticated;

comment on function svc.try_lock(text) is
  'Locks this name until the transaction ends, or returns false at once if another transaction holds the lock. '
  'Definer: advisory locks are closed to requests, because the platform''s keys are among them.';
