-- Tells every process that a user's row has changed, so that none goes on believing the JWTs that were issued before.
-- Heard by src/auth/revocations.ts. The notice goes out with the commit, never without it.
--
-- A deleted user needs no notice of its own: the foreign key deletes the sessions, which are told one by one.
-- SECURITY DEFINER, since nobody else may call pg_notify() (sql/grants.sql).

create or replace function auth.notify_user_change()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform pg_catalog.pg_notify('svc_auth', json_build_object('user', old.id)::text);
  return null;
end
$$;

comment on function auth.notify_user_change() is 'Trigger of auth."user": tells that JWTs of this user are out of date.';

create or replace trigger notify_change
  after update on auth."user"
  for each row when (old.updated_at is distinct from new.updated_at)
  execute function auth.notify_user_change();

comment on trigger notify_change on auth."user" is 'Once per new version, see advance_version.';
