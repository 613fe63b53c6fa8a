-- Closes PostgreSQL's own doors that would let SQL inside a request become someone else or speak for the platform.
-- Runs last, as the administrator; only a superuser may take these functions from PUBLIC, elsewhere PostgreSQL warns
-- and these doors stay open: SECURITY.md says what that costs.

-- set_config() could rewrite svc.user_id, the identity that every policy trusts. Only the requests' login may call it,
-- and it does so before the role changes: PostgreSQL checks EXECUTE as the statement starts, so no fragment, function or
-- view that runs later as svc_authenticated can. (SET is a statement of its own and cannot be part of another one.)
revoke execute on function pg_catalog.set_config(text, text, boolean) from public;
grant execute on function pg_catalog.set_config(text, text, boolean) to svc_request;

-- An update of this view is set_config() in disguise.
revoke update on pg_catalog.pg_settings from public;

-- Messages in the write-ahead log and notifications are how processes tell each other what happened. A request must
-- not be able to forge one.
--
-- What outlasts a transaction is the next caller's on the same connection, or everybody's. A lock of the session would
-- stay and stop whoever waits for it, and setseed() make random() foretell; the locks of a transaction remain. Large
-- objects know no row-level security: all users are the same role to them, and what one keeps there all read and fill.
--
-- Argument lists differ between server versions, hence the loop.
do $$
declare
  door record;
begin
  for door in
    select p.oid::regprocedure as signature, w.callers
      from (values
        ('{pg_logical_emit_message,pg_notify}'::text[], 'svc_owner'),
        ('{pg_advisory_lock,pg_advisory_lock_shared,pg_try_advisory_lock,pg_try_advisory_lock_shared,setseed}',
          'svc_owner, svc_system'),
        ('{lo_creat,lo_create,lo_from_bytea,lo_get,lo_open,lo_put,lo_unlink}', 'svc_owner, svc_system')
      ) as w (names, callers)
      join pg_catalog.pg_proc p on p.pronamespace = 'pg_catalog'::regnamespace and p.proname = any (w.names)
  loop
    execute format('revoke execute on function %s from public', door.signature);
    execute format('grant execute on function %s to %s', door.signature, door.callers);
  end loop;
end
$$;

-- A temporary table is a table without policies, and a temporary function one without an owner we trust.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
end
$$;
