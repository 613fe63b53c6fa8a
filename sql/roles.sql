-- The roles: who may connect, and which role a request runs as. Runs as the administrator, who must be able to create
-- roles.
--
-- Privileges are granted to NOLOGIN roles: svc_owner owns everything, svc_anonymous and svc_authenticated have the
-- privileges of requests. Each login has one purpose and no wider privileges. If the login of requests were a member of
-- a role that bypasses RLS, any SQL inside a request could switch to that role, however careful the TypeScript is.
--
-- This file sets no passwords: the embedded cluster generates them, and on a managed host an operator sets them.

do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values
      ('svc_owner',         'nologin'),  -- owns schemas, tables and functions; nobody connects as it
      ('svc_anonymous',     'nologin'),  -- a request without a user
      ('svc_authenticated', 'nologin'),  -- a request with a user
      ('svc_reader_anonymous',     'nologin'),  -- owns functions that read an index for a request
      ('svc_reader_authenticated', 'nologin'),  -- the same for requests with a user
      ('svc_request',       'login noinherit'),  -- the pool of requests: may only become svc_anonymous or svc_authenticated
      ('svc_auth',          'login'),    -- the authentication library's pool: schema auth, nothing else
      ('svc_system',        'login'),    -- unsafeDb and jobs: bypasses row-level security by its attribute
      ('svc_replicator',    'login'),    -- the reader of the write-ahead log
      ('svc_studio_read',   'login noinherit'),  -- Studio: reads as a user, and calls its named functions (sql/studio/)
      ('svc_studio_act',    'login')     -- Studio: executes the acts of operators, and reads nothing
    ) as w (name, attributes)
  loop
    if not exists (select from pg_catalog.pg_roles where rolname = wanted.name) then
      execute format('create role %I %s', wanted.name, wanted.attributes);
    end if;
  end loop;
end
$$;

-- Set again in every run, so that an attribute that someone added by hand is removed. Some managed hosts reserve
-- BYPASSRLS and REPLICATION. There svc_system gets explicit policies instead (svc_private.secure_tables), and realtime
-- needs the host's own replication login.
do $$
begin
  alter role svc_owner nologin nocreatedb nocreaterole;
  alter role svc_anonymous nologin nocreatedb nocreaterole;
  alter role svc_authenticated nologin nocreatedb nocreaterole;
  alter role svc_reader_anonymous nologin nocreatedb nocreaterole;
  alter role svc_reader_authenticated nologin nocreatedb nocreaterole;
  alter role svc_request noinherit nocreatedb nocreaterole;
  alter role svc_auth nocreatedb nocreaterole;
  alter role svc_system nocreatedb nocreaterole;
  alter role svc_studio_read noinherit nocreatedb nocreaterole;
  alter role svc_studio_act nocreatedb nocreaterole;
  begin
    alter role svc_owner nosuperuser nobypassrls noreplication;
    alter role svc_anonymous nosuperuser nobypassrls noreplication;
    alter role svc_authenticated nosuperuser nobypassrls noreplication;
    alter role svc_reader_anonymous nosuperuser nobypassrls noreplication;
    alter role svc_reader_authenticated nosuperuser nobypassrls noreplication;
    alter role svc_request nosuperuser nobypassrls noreplication;
    alter role svc_auth nosuperuser nobypassrls noreplication;
    alter role svc_system nosuperuser bypassrls noreplication;
    alter role svc_replicator nosuperuser nobypassrls replication;
    alter role svc_studio_read nosuperuser nobypassrls noreplication;
    alter role svc_studio_act nosuperuser nobypassrls noreplication;
  exception when insufficient_privilege then
    raise warning 'this host reserves SUPERUSER, BYPASSRLS or REPLICATION: svc_system gets its access by policies';
  end;
end
$$;

-- Since PostgreSQL 16, each membership states whether privileges are inherited without SET ROLE. An administrator who
-- is not a superuser needs the option SET to create objects that svc_owner owns. The administrator created the roles
-- and may therefore grant that option.
do $$
declare
  options constant text := case when current_setting('server_version_num')::integer >= 160000
                                then ' with inherit false, set true' else '' end;
begin
  execute 'grant svc_anonymous, svc_authenticated to svc_request, svc_studio_read' || options;
end
$$;

-- A SECURITY DEFINER function that svc_owner owns sees every row, so it would have to repeat the policies. A function
-- that a reader owns (svc_private.run_as_reader) runs under the policies and privileges of the request's role. Readers
-- also have EXECUTE on internal functions that find candidates. svc_owner is a member of the readers, because only a
-- member may give a function to a role.
--
-- All three memberships inherit: a function runs with the privileges that its owner inherits, and svc_owner needs the
-- owner's rights to replace a reader's functions.
do $$
declare
  options constant text := case when current_setting('server_version_num')::integer >= 160000
                                then ' with inherit true, set true' else '' end;
begin
  execute 'grant svc_anonymous to svc_reader_anonymous' || options;
  execute 'grant svc_authenticated to svc_reader_authenticated' || options;
  execute 'grant svc_reader_anonymous, svc_reader_authenticated to svc_owner' || options;
end
$$;

-- For the views of sql/ops/, which only the system may read: the activity of other sessions, and the statements that
-- cost the most.
do $$
begin
  grant pg_read_all_stats to svc_system;
exception when insufficient_privilege then
  raise warning 'this administrator cannot grant pg_read_all_stats: svc db slow and svc db locks will only show svc_system';
end
$$;

-- The administrator creates objects that svc_owner owns. A superuser needs no grant for that. Roles belong to the
-- server: where two of its databases run svc, the same administrator has to migrate both, because another administrator
-- may not alter roles that it did not create.
do $$
begin
  if not (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
    execute format('grant svc_owner to %I', current_user)
      || case when current_setting('server_version_num')::integer >= 160000 then ' with inherit true, set true' else '' end;
  end if;
end
$$;

-- Settings that statements and drivers here rely on, whatever the defaults of the server or the database are: timestamps
-- are ISO 8601 in UTC, a backslash in a literal is only a backslash, and policies filter instead of refusing. Generated
-- functions, sign-ins and claims of jobs are statements without BEGIN: above READ COMMITTED those that meet would fail.
-- Sessions may be idle: one holds the lock that shows that a worker lives, others listen or wait for the next call.
do $$
declare
  login text;
begin
  foreach login in array '{svc_request,svc_auth,svc_system,svc_studio_read,svc_studio_act}'::text[] loop
    execute format('alter role %I set timezone = ''UTC''', login);
    execute format('alter role %I set datestyle = ''ISO, MDY''', login);
    execute format('alter role %I set standard_conforming_strings = on', login);
    execute format('alter role %I set row_security = on', login);
    execute format('alter role %I set default_transaction_isolation = ''read committed''', login);
    execute format('alter role %I set idle_session_timeout = 0', login);
  end loop;
end
$$;
alter role svc_auth set search_path = 'auth';
-- PostgreSQL's default, and behind it the schema of extensions: the system finds their types and operators as transactions of
-- callers do (src/postgres/transaction-statements.ts).
alter role svc_system set search_path = "$user", public, extensions;
alter role svc_replicator set idle_session_timeout = 0;

-- PostgreSQL compiles (JIT) plans that it estimates as expensive. Statements here are short: compiling one takes up to
-- 400 ms, running it less than 1 ms. Functions that disable a kind of scan also set jit = off themselves, because a
-- disabled scan has the highest estimated cost, for every caller.
alter role svc_request set jit = off;
alter role svc_auth set jit = off;
alter role svc_system set jit = off;
alter role svc_studio_read set jit = off;

-- Last resort: limits for a statement, or a pause in a transaction, that would otherwise hold a connection forever. The
-- processes set their own configured limits (src/postgres/pools.ts, transaction.ts); these apply where a pooler drops
-- them.
alter role svc_request set statement_timeout = '60s';
alter role svc_request set idle_in_transaction_session_timeout = '60s';
alter role svc_auth set statement_timeout = '60s';
alter role svc_studio_read set statement_timeout = '10s';
alter role svc_studio_read set idle_in_transaction_session_timeout = '10s';
alter role svc_studio_act set statement_timeout = '10s';

-- The server looks for a client that it has not heard of for five seconds, and ends its session when there is no answer
-- within 15 s; that also frees the lock of a worker. A host that has lost its power or its network closes no connection, and
-- by Linux's default its sessions, with their locks, would stay for more than two hours. src/postgres/silence.ts does the
-- same from the other side. While a statement runs it would not notice that its process was killed, and hold its locks
-- until the statement ends: it looks every five seconds, on platforms on which it can.
do $$
declare
  login text;
begin
  foreach login in array '{svc_request,svc_auth,svc_system,svc_replicator,svc_studio_read,svc_studio_act}'::text[] loop
    execute format('alter role %I set tcp_keepalives_idle = 5', login);
    execute format('alter role %I set tcp_keepalives_interval = 5', login);
    execute format('alter role %I set tcp_keepalives_count = 3', login);
    begin
      execute format('alter role %I set client_connection_check_interval = ''5s''', login);
    exception when invalid_parameter_value then null;
    end;
  end loop;
end
$$;

-- A transaction of this login reads unless it says otherwise, and src/studio/ says in each that it reads.
alter role svc_studio_read set default_transaction_read_only = on;
