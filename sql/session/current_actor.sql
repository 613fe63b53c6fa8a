-- Who acts in the current transaction:
--
--   user     the user, by a session; also Studio and commands that show what the user sees
--   visit    an administrator who acts as the user
--   key      a program of the user, by an API key
--   service  a service account of an organization, by an API key
--   job      a job or run of a workflow that the user or service account has started: it may do what these may
--   system   the platform: crons, system jobs, unsafeDb, commands, psql
--   null     a caller without an account
--
-- A key or a visit is part of the setting of svc.current_user_id(). The setting svc.actor only tells a job from its user.
-- PostgreSQL's own setting `role` tells a caller without an account from the system; unlike current_user it is the same inside
-- functions with their owner's rights. Inlined, so no search_path.

create or replace function svc.current_actor()
returns text
language sql
stable
parallel safe
as $$
  select case
    when coalesce(pg_catalog.current_setting('svc.user_id', true), '') = ''
      then case when pg_catalog.current_setting('role') = 'svc_anonymous' then null else 'system' end
    else coalesce(
      nullif(pg_catalog.current_setting('svc.actor', true), ''),
      case when svc.is_service(pg_catalog.split_part(pg_catalog.current_setting('svc.user_id', true), E'\t', 1))
        then 'service' end,
      nullif(pg_catalog.split_part(pg_catalog.current_setting('svc.user_id', true), E'\t', 2), ''),
      'user')
  end
$$;

comment on function svc.current_actor() is
  'Who acts: user, visit, key, service, job or system; null for a caller without an account. Use as (select svc.current_actor()). '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';

grant execute on function svc.current_actor() to svc_anonymous, svc_authenticated, svc_system;
