-- Users by id, or by the beginning of their e-mail address, for Studio's choice of a user to view as.

create or replace function svc_private.studio_users(search text, most integer)
returns table (id text, email text, name text)
language sql
stable
security definer
set search_path = ''
as $$
  select u.id, u.email, u.name
    from auth."user" u
   where u.id = search or u.email >= lower(search) and starts_with(u.email, lower(search))
   order by u.email
   limit most
$$;

comment on function svc_private.studio_users(text, integer) is
  'Users with this id, or with an e-mail address that begins so. '
  'Definer: svc_studio_read may not read the schema auth.';

grant execute on function svc_private.studio_users(text, integer) to svc_studio_read;
