-- The caller's own address, if it is verified. The policies of invitations compare it: anybody can sign up with the
-- address of somebody else, but only its owner can verify it.

create or replace function svc.verified_email()
returns text
language sql
stable
security definer
set search_path = ''
as $$
  select u.email from auth."user" u where u.id = svc.current_user_id() and u.email_verified
$$;

grant execute on function svc.verified_email() to svc_authenticated;

comment on function svc.verified_email() is
  'The caller''s address if it is verified, otherwise null. '
  'Definer: requests cannot read auth."user", and it tells callers about themselves.';
