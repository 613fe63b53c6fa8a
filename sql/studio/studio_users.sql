-- Users by id, or by the beginning of their e-mail address, for Studio's choice of a user to view as.

create or replace function svc_private.studio_users(search text, most integer)
returns table (id text, email text, name text)
language sql
stable
security definer
set search_path = ''
as $$
  select p.id, p.email, p.name from svc_private.studio_people(search, null, most) p
$$;

comment on function svc_private.studio_users(text, integer) is
  'Users with this id, or with an e-mail address that begins so. '
  'Definer: svc_studio_read may not read the schema auth.';

grant execute on function svc_private.studio_users(text, integer) to svc_studio_read;
