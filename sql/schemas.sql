-- The schemas and who may look into them. Names say reach: svc may be called, svc_private may not.
-- Runs as the administrator, before the migrations. Privileges on single objects stand beside the objects.

create schema if not exists svc authorization svc_owner;
create schema if not exists svc_private authorization svc_owner;
create schema if not exists svc_crud authorization svc_owner;
create schema if not exists auth authorization svc_owner;
create schema if not exists graphile_worker authorization svc_owner;
create schema if not exists extensions;

comment on schema svc is 'Platform functions that requests may call, and tables that they may read under RLS.';
comment on schema svc_private is 'Platform internals. Request roles have no USAGE here.';
comment on schema svc_crud is 'Generated CRUD functions, one set per createCrud().';
comment on schema auth is 'Users, sessions, accounts: the authentication library''s tables.';
comment on schema graphile_worker is
  'The queue: tables and functions of the library graphile-worker, in the revision that it brings (src/jobs/queue.ts).';
comment on schema extensions is 'Extensions, away from the application''s names.';

-- A publication belongs to a database as a schema does: making one takes this (sql/realtime/publish_tables.sql).
do $$
begin
  execute format('grant create on database %I to svc_owner', current_database());
end
$$;

-- The application's own schema: built by the owner, used by requests, closed to everybody else.
revoke all on schema public from public;
grant usage, create on schema public to svc_owner;
grant usage on schema public to svc_anonymous, svc_authenticated, svc_system;

grant usage on schema svc to svc_anonymous, svc_authenticated, svc_system;
grant usage on schema extensions to svc_owner, svc_anonymous, svc_authenticated, svc_system;
grant usage on schema auth to svc_auth, svc_system;
grant usage on schema svc_private to svc_system, svc_reader_anonymous, svc_reader_authenticated;
grant usage on schema graphile_worker to svc_system;

-- The login alone, before a request's role or between two statements of it: it may enqueue and settle jobs, which SQL
-- that runs as the caller may not (sql/jobs/enqueue_job.sql).
grant usage on schema svc to svc_request;

-- svc_request needs USAGE here although it may read no table: PostgreSQL resolves the function's name, and checks
-- EXECUTE, before the statement switches the role (src/crud/statement.ts).
grant usage on schema svc_crud to svc_request, svc_anonymous, svc_authenticated, svc_system;

-- Deny by default. A function is executable by nobody until a grant says so; the system role works on every table.
alter default privileges for role svc_owner revoke execute on functions from public;
alter default privileges for role svc_owner revoke usage on types from public;
alter default privileges for role svc_owner grant usage on types to svc_anonymous, svc_authenticated, svc_system;
alter default privileges for role svc_owner grant select, insert, update, delete on tables to svc_system;
alter default privileges for role svc_owner grant usage, select on sequences to svc_system;
alter default privileges for role svc_owner grant execute on functions to svc_system;

-- Vectors where the server has them; everything else works without. Tried rather than looked up: an extension in a
-- private directory can be created although pg_available_extensions does not list it.
do $$
begin
  create extension if not exists vector schema extensions;
exception when undefined_file or feature_not_supported or insufficient_privilege or undefined_object then
  raise notice 'pgvector is not available: vector search stays off';
end
$$;
