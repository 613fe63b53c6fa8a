-- Closes PostgreSQL's own doors that would let SQL inside a request become someone else or speak for the platform.
-- Runs last, as the administrator; only a superuser may take these functions from PUBLIC, elsewhere PostgreSQL warns
-- and these doors stay open: SECURITY.md says what that costs.

-- set_config() could rewrite svc.user_id, the identity that every policy trusts. Only the requests' login may call it,
-- and it does so before the role changes: PostgreSQL checks EXECUTE as the statement starts, so no fragment, function or
-- view that runs later as svc_authenticated can. (SET is a statement of its own and cannot be part of another one.)
do $$
begin
  revoke execute on function pg_catalog.set_config(text, text, boolean) from public;
  grant execute on function pg_catalog.set_config(text, text, boolean) to svc_request;

  -- An update of this view is set_config() in disguise.
  revoke update on pg_catalog.pg_settings from public;
exception when insufficient_privilege then
  null; -- a superuser has closed it already, and this administrator is none: otherwise PostgreSQL warns, and goes on
end
$$;

-- Messages in the write-ahead log and notifications are how processes tell each other what happened. A request must
-- not be able to forge one.
--
-- What outlasts a transaction is the next caller's on the same connection, or everybody's. A lock of the session would
-- stay and stop whoever waits for it, and setseed() make random() foretell. Large objects know no row-level security: all
-- users are the same role to them, and what one keeps there all read and fill.
--
-- Advisory locks of a transaction are closed as well: the platform's own keys are written in sql/README.md, and a request
-- that took one would stop uploads, credits, workers and migrations. Applications have svc.lock(), whose keys are apart.
-- The library of sign-in takes two of them by functions of ours (auth/add_key.sql, auth/sweep.sql).
--
-- lastval() answers with the number that the previous caller on the connection got. An identity column needs none of
-- currval(), lastval() and setval().
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
        ('{pg_advisory_xact_lock,pg_advisory_xact_lock_shared,pg_try_advisory_xact_lock,pg_try_advisory_xact_lock_shared}',
          'svc_owner, svc_system, svc_auth'),
        ('{currval,lastval,setval}', 'svc_owner, svc_system'),
        -- What other sessions do and hold: the views below read these, and a caller could read them without the views.
        ('{pg_lock_status,pg_stat_get_activity,pg_blocking_pids,pg_safe_snapshot_blocking_pids}',
          'svc_owner, svc_system, pg_monitor'),
        ('{lo_creat,lo_create,lo_from_bytea,lo_get,lo_open,lo_put,lo_unlink}', 'svc_owner, svc_system')
      ) as w (names, callers)
      join pg_catalog.pg_proc p on p.pronamespace = 'pg_catalog'::regnamespace and p.proname = any (w.names)
  loop
    begin
      execute format('revoke execute on function %s from public', door.signature);
      execute format('grant execute on function %s to %s', door.signature, door.callers);
    exception when insufficient_privilege then
      null; -- a superuser has closed it already, and this administrator is none
    end;
  end loop;
end
$$;

-- Which locks are held, by keys that tell whose upload or document it is; who is connected from where, and since when. The
-- statements of others were hidden already. Monitoring reads on: pg_monitor is the role for it.
do $$
begin
  revoke select on pg_catalog.pg_locks, pg_catalog.pg_stat_activity from public;
  grant select on pg_catalog.pg_locks, pg_catalog.pg_stat_activity to svc_owner, svc_system, pg_monitor;
exception when insufficient_privilege then
  null; -- as above
end
$$;

-- The statements of everybody, with the constants that no parameter replaced (ALTER ROLE … PASSWORD is one of them), and how
-- often each ran. The extension gives its views to PUBLIC wherever it is installed, also after this file ran: svc db lint
-- tells (statements_readable).
do $$
declare
  part record;
begin
  for part in
    select case when d.classid = 'pg_catalog.pg_class'::regclass then d.objid::regclass::text
                else 'function ' || d.objid::regprocedure end as name,
           case when d.classid = 'pg_catalog.pg_class'::regclass then 'select' else 'execute' end as privilege
      from pg_catalog.pg_extension e
      join pg_catalog.pg_depend d
        on d.refclassid = 'pg_catalog.pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
       and d.classid in ('pg_catalog.pg_class'::regclass, 'pg_catalog.pg_proc'::regclass)
     where e.extname in ('pg_stat_statements', 'pg_stat_kcache', 'pg_stat_monitor')
  loop
    execute format('revoke %s on %s from public', part.privilege, part.name);
    -- Not what resets them: PostgreSQL gives that to nobody, and it has no privilege that PUBLIC could lose.
    continue when part.name ~ 'reset';
    execute format('grant %s on %s to svc_owner, svc_system, pg_monitor', part.privilege, part.name);
  end loop;
exception when insufficient_privilege then
  raise warning 'this administrator may not take the statistics of statements from PUBLIC: svc db lint tells what is readable';
end
$$;

-- Which migrations were applied is the migrator's to write. The system reads it when a process starts.
revoke insert, update, delete on svc_private.applied_migrations, svc_private.applied_sql from svc_system;

-- A temporary table is a table without policies, and a temporary function one without an owner we trust.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
end
$$;
