-- The schemas and who has USAGE on them. Requests may call functions in svc and svc_hidden, not in svc_private. svc is
-- the API: `\df svc.*` lists what applications, requests and the platform's TypeScript call. svc_hidden has the helpers
-- that these functions call; applications must not call them, because they change without notice.
-- Runs as the administrator, before the migrations. Privileges on single objects are in the files of the objects.

create schema if not exists svc authorization svc_owner;
create schema if not exists svc_hidden authorization svc_owner;
create schema if not exists svc_private authorization svc_owner;
create schema if not exists svc_crud authorization svc_owner;
create schema if not exists auth authorization svc_owner;
create schema if not exists graphile_worker authorization svc_owner;
create schema if not exists extensions;

comment on schema svc is 'Platform functions that requests may call, and tables that they may read under RLS.';
comment on schema svc_hidden is
  'Helpers of the functions in svc. Requests execute them, but they are not part of the API.';
comment on schema svc_private is 'Platform internals. Request roles have no USAGE here.';
comment on schema svc_crud is 'Generated CRUD functions, one set per createCrud().';
comment on schema auth is 'Users, sessions, accounts: the authentication library''s tables.';
comment on schema graphile_worker is
  'The queue: tables and functions of the library graphile-worker, in the revision that it brings (src/jobs/queue.ts).';
comment on schema extensions is 'Extensions, separate from the application''s names.';

-- CREATE PUBLICATION needs CREATE on the database (sql/realtime/publish_tables.sql).
do $$
begin
  execute format('grant create on database %I to svc_owner', current_database());
end
$$;

-- The application's schema: svc_owner creates objects in it, requests use it, all other roles have no access.
revoke all on schema public from public;
grant usage, create on schema public to svc_owner;
grant usage on schema public to svc_anonymous, svc_authenticated, svc_system;

grant usage on schema svc, svc_hidden to svc_anonymous, svc_authenticated, svc_system;
grant usage on schema extensions to svc_owner, svc_anonymous, svc_authenticated, svc_system;
grant usage on schema auth to svc_auth, svc_system;
grant usage on schema svc_private
  to svc_system, svc_reader_anonymous, svc_reader_authenticated, svc_studio_read, svc_studio_act;
grant usage on schema graphile_worker to svc_system;

-- For the login itself, before SET ROLE or between two statements of a request: it may enqueue and settle jobs. SQL
-- that runs as the caller may not (sql/jobs/enqueue_job.sql).
grant usage on schema svc, svc_hidden to svc_request;

-- svc_request needs USAGE here although it may read no table: PostgreSQL resolves the function's name, and checks
-- EXECUTE, before the statement switches the role (src/crud/statement.ts).
grant usage on schema svc_crud to svc_request, svc_anonymous, svc_authenticated, svc_system;

-- Deny by default. Nobody may execute a function until a grant allows it. The system role may use every table and
-- function.
alter default privileges for role svc_owner revoke execute on functions from public;
alter default privileges for role svc_owner revoke usage on types from public;
alter default privileges for role svc_owner grant usage on types to svc_anonymous, svc_authenticated, svc_system;
alter default privileges for role svc_owner grant select, insert, update, delete on tables to svc_system;
alter default privileges for role svc_owner grant usage, select on sequences to svc_system;
alter default privileges for role svc_owner grant execute on functions to svc_system;

-- pgvector is optional: without it only vector search is off. The extension is created without a look at
-- pg_available_extensions, because an extension in a private directory can be created although that view does not list
-- it.
do $$
begin
  create extension if not exists vector schema extensions;
exception when undefined_file or feature_not_supported or insufficient_privilege or undefined_object then
  raise notice 'pgvector is not available: vector search stays off';
end
$$;
