-- Closes functions and views of PostgreSQL with which SQL inside a request could become another user or forge messages
-- of the platform. Runs last, as the administrator. Only a superuser may revoke these privileges from PUBLIC. Elsewhere
-- PostgreSQL only warns and they stay open: SECURITY.md says what that costs.

-- set_config() could rewrite svc.user_id, the identity that every policy trusts. Only the logins of requests and of
-- Studio's views may call it, and they do so before SET ROLE. PostgreSQL checks EXECUTE when the statement starts, so no fragment, function or
-- view that runs later as svc_authenticated can call it. (SET is a statement of its own and cannot be part of another
-- one.)
do $$
begin
  revoke execute on function pg_catalog.set_config(text, text, boolean) from public;
  grant execute on function pg_catalog.set_config(text, text, boolean) to svc_request, svc_studio_read;

  -- UPDATE on this view does the same as set_config().
  revoke update on pg_catalog.pg_settings from public;
exception when insufficient_privilege then
  null; -- not a superuser, and a superuser has closed it already; otherwise PostgreSQL only warns
end
$$;

-- Processes inform each other by messages in the write-ahead log and by notifications. A request must not be able to
-- forge them.
--
-- State that outlasts a transaction affects the next caller on the same connection, or everybody. A session lock would
-- stay and block others. setseed() would make random() predictable. Large objects have no row-level security: all users
-- are the same role to them, so every user could read and write all of them.
--
-- Advisory locks of a transaction are closed as well. The platform's own keys are listed in sql/README.md, and a
-- request that took one would block uploads, credits, workers and migrations. Applications use svc.lock(), which has
-- separate keys. The authentication library takes two of them by functions of ours (auth/add_key.sql, auth/sweep.sql).
--
-- lastval() returns the number that the previous caller on the connection got. An identity column needs none of
-- currval(), lastval() and setval().
--
-- A loop, because argument lists differ between server versions.
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
        -- The activity and locks of other sessions: the views below read these, and a caller could call them without
        -- the views.
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
      null; -- not a superuser, and a superuser has closed it already
    end;
  end loop;
end
$$;

-- These views show which locks are held, by keys that identify an upload's owner or a document. They also show who is
-- connected, from where and since when. PostgreSQL already hides other users' statements. Monitoring can still read
-- them: pg_monitor is the role for it.
do $$
begin
  revoke select on pg_catalog.pg_locks, pg_catalog.pg_stat_activity from public;
  grant select on pg_catalog.pg_locks, pg_catalog.pg_stat_activity to svc_owner, svc_system, pg_monitor;
exception when insufficient_privilege then
  null; -- as above
end
$$;

-- These views show everybody's statements, with constants that no parameter replaced (for example in ALTER ROLE …
-- PASSWORD), and how often each ran. The extension grants its views to PUBLIC wherever it is installed, also after this
-- file ran; then svc db lint reports it (statements_readable).
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
    -- The functions that reset them are left out: PostgreSQL grants them to nobody, so PUBLIC has no privilege to lose.
    continue when part.name ~ 'reset';
    execute format('grant %s on %s to svc_owner, svc_system, pg_monitor', part.privilege, part.name);
  end loop;
exception when insufficient_privilege then
  raise warning 'this administrator may not take the statistics of statements from PUBLIC: svc db lint lists what is readable';
end
$$;

-- Only the migrator writes which migrations were applied. The system reads it when a process starts.
revoke insert, update, delete on svc_private.applied_migrations, svc_private.applied_sql from svc_system;

-- A temporary table has no policies, and a temporary function has no trusted owner.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
end
$$;
