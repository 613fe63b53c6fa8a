-- Who may connect, and as whom a request runs. Runs as the administrator, who must be able to create roles.
--
-- Privileges hang on three NOLOGIN roles: svc_owner owns everything, svc_anonymous and svc_authenticated carry what a
-- request may do. Each login has one purpose and cannot reach further: a request's login that was a member of a
-- bypassing role would let any SQL inside a request escalate, however careful the TypeScript above it is.
--
-- Passwords are not set here: the embedded cluster generates them, an operator sets them for a managed host.

do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values
      ('svc_owner',         'nologin'),  -- owns schemas, tables and functions; nobody connects as it
      ('svc_anonymous',     'nologin'),  -- a request without a user
      ('svc_authenticated', 'nologin'),  -- a request with a user
      ('svc_reader_anonymous',     'nologin'),  -- functions that read an index for a request, and see its rows only
      ('svc_reader_authenticated', 'nologin'),  -- the same for a request with a user
      ('svc_request',       'login noinherit'),  -- the requests' pool: nothing of its own but the two roles above
      ('svc_auth',          'login'),    -- the authentication library's pool: schema auth, nothing else
      ('svc_system',        'login'),    -- unsafeDb and jobs: looks past row-level security, by a declared attribute
      ('svc_replicator',    'login')     -- the reader of the write-ahead log
    ) as w (name, attributes)
  loop
    if not exists (select from pg_catalog.pg_roles where rolname = wanted.name) then
      execute format('create role %I %s', wanted.name, wanted.attributes);
    end if;
  end loop;
end
$$;

-- Restated each time, so that an attribute someone added by hand does not survive. Some managed hosts reserve
-- BYPASSRLS and REPLICATION: there svc_system gets explicit policies instead (svc_private.secure_tables), and realtime
-- needs the host's own replication login.
do $$
begin
  alter role svc_request noinherit nocreatedb nocreaterole;
  alter role svc_auth nocreatedb nocreaterole;
  alter role svc_system nocreatedb nocreaterole;
  begin
    alter role svc_request nosuperuser nobypassrls noreplication;
    alter role svc_auth nosuperuser nobypassrls noreplication;
    alter role svc_system nosuperuser bypassrls noreplication;
    alter role svc_replicator nosuperuser nobypassrls replication;
  exception when insufficient_privilege then
    raise warning 'this host reserves SUPERUSER, BYPASSRLS or REPLICATION: svc_system will be admitted by policies';
  end;
end
$$;

-- From PostgreSQL 16 on, each membership says for itself whether privileges come along without SET ROLE. An administrator who is
-- no superuser needs the option SET to make svc_owner the owner of what it creates; having made the roles, it may give it.
do $$
declare
  options constant text := case when current_setting('server_version_num')::integer >= 160000
                                then ' with inherit false, set true' else '' end;
begin
  execute 'grant svc_anonymous, svc_authenticated to svc_request' || options;
end
$$;

-- A definer function that svc_owner owns sees every row, so it would have to repeat what the policies say. A function that a
-- reader owns (svc_private.run_as_reader) has the policies and privileges of the request's role, and beside them EXECUTE on
-- internal functions that find candidates. svc_owner is a member, because only a member may give a function to a role.
--
-- All three inherit: a function runs with what its owner inherits, and svc_owner replaces functions of a reader as their owner.
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

-- What other sessions do, and which statements cost the most: for the views of sql/ops/, which the system alone may read.
do $$
begin
  grant pg_read_all_stats to svc_system;
exception when insufficient_privilege then
  raise warning 'this administrator cannot grant pg_read_all_stats: svc db slow and svc db locks will see svc_system alone';
end
$$;

-- The administrator creates objects as their owner. A superuser may do so anyway. The roles belong to the server: where two
-- databases of it are svc's, one administrator has to migrate both, for the other one may not alter roles it did not create.
do $$
begin
  if not (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
    execute format('grant svc_owner to %I', current_user)
      || case when current_setting('server_version_num')::integer >= 160000 then ' with inherit true, set true' else '' end;
  end if;
end
$$;

-- One time zone everywhere: timestamps in answers are UTC whatever the host is set to.
alter role svc_request set timezone = 'UTC';
alter role svc_auth set timezone = 'UTC';
alter role svc_system set timezone = 'UTC';
alter role svc_auth set search_path = 'auth';

-- PostgreSQL compiles (JIT) what its planner takes for expensive. Statements here are short: compiling one takes up to 400 ms,
-- and running it less than one. Functions that switch a kind of scan off say the same for themselves, since a disabled scan is
-- the most expensive of all, whoever calls them.
alter role svc_request set jit = off;
alter role svc_auth set jit = off;
alter role svc_system set jit = off;

-- The last resort against a statement, or a pause in a transaction, that would hold a connection for ever. The processes
-- set their own, configured limits (src/postgres/pools.ts, transaction.ts); these hold where a pooler loses them.
alter role svc_request set statement_timeout = '60s';
alter role svc_request set idle_in_transaction_session_timeout = '60s';
alter role svc_auth set statement_timeout = '60s';
