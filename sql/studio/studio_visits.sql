-- The live sessions of a user in which an administrator acts as the user, for Studio's list of sessions (studio_sessions.sql, whose
-- columns earlier processes know). The column exists only with better-auth's `admin` plugin, so it is read by name.

create or replace function svc_private.studio_visits(of_user text)
returns table (id text, administrator text)
language sql
stable
security definer
set search_path = ''
as $$
  select s.id, to_jsonb(s) ->> 'impersonated_by'
    from auth.session s
   where s.user_id = of_user and s.expires_at > now() and to_jsonb(s) ->> 'impersonated_by' is not null
$$;

comment on function svc_private.studio_visits(text) is
  'Live sessions of a user in which an administrator acts as the user. Definer: svc_studio_read may not read the schema auth.';

grant execute on function svc_private.studio_visits(text) to svc_studio_read;
