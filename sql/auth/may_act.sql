-- Whether somebody whose links or invitations are used may still act: not while banned, and as a service account only as a
-- member. These outlive sessions and keys, so nothing else ends them then. Called by svc_private.claim_upload(), finish_upload()
-- and find_storage_objects() as svc_system, and by svc.accept_invitation() as its owner.

create or replace function auth.may_act(user_id text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select not exists (select from auth."user" u where u.id = may_act.user_id and auth.is_banned(u))
     and not exists (select from svc.service_accounts s where s.id = may_act.user_id and s.role is null)
$$;

comment on function auth.may_act(text) is
  'Whether links and invitations of this user may be used: not of one who is banned, nor of a service account that was removed.';
