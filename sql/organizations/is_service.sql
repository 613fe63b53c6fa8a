-- Whether an id is that of a service account. The id alone says so: triggers and policies need no look-up, and an entry of the
-- history shows it after the account is gone. svc_private.prepare_service_account() makes these ids.
--
-- Inlined, so no search_path.

create or replace function svc.is_service(user_id text)
returns boolean
language sql
immutable
parallel safe
as $$
  select user_id ~ '^service_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$$;

grant execute on function svc.is_service(text) to svc_anonymous, svc_authenticated, svc_system;

comment on function svc.is_service(text) is
  'Whether the id is that of a service account of an organization. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';
