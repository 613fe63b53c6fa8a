-- The live sessions of a user, for Studio. No token: with one, an operator could act as the user.

create or replace function svc_private.studio_sessions(of_user text, most integer)
returns table (
  id text, created_at timestamptz, updated_at timestamptz, expires_at timestamptz, ip_address text, user_agent text
)
language sql
stable
security definer
set search_path = ''
as $$
  select s.id, s.created_at, s.updated_at, s.expires_at, s.ip_address, left(s.user_agent, 300)
    from auth.session s
   where s.user_id = of_user and s.expires_at > now()
   order by s.updated_at desc, s.id
   limit most
$$;

comment on function svc_private.studio_sessions(text, integer) is
  'Live sessions of a user without their tokens, the one used last first. '
  'Definer: svc_studio_read may not read the schema auth.';

grant execute on function svc_private.studio_sessions(text, integer) to svc_studio_read;
