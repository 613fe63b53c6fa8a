-- Whether a user is banned now. The columns exist only with better-auth's `admin` plugin, so they are read by name. The
-- plugin ends the sessions of a banned user; keys stay, and count again when the ban is over.

create or replace function auth.is_banned(one auth."user")
returns boolean
language sql
stable
set search_path = ''
as $$
  select coalesce((to_jsonb(one) ->> 'banned')::boolean, false)
     and coalesce((to_jsonb(one) ->> 'ban_expires')::timestamptz > now(), true)
$$;

grant execute on function auth.is_banned(auth."user") to svc_auth;

comment on function auth.is_banned(auth."user") is 'Whether the admin plugin of better-auth has banned this user for now.';
