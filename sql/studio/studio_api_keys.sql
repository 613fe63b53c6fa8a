-- The API keys of a user, for Studio, the newest first, also expired ones. No hash: it would let nobody in, but it belongs to the
-- key alone. `next` and `next_id` page: keys that come after this one.

create or replace function svc_private.studio_api_keys(of_user text, next timestamptz, next_id text, most integer)
returns table (
  id text, name text, start text, scopes text[], created_at timestamptz, expires_at timestamptz, last_used_at timestamptz
)
language sql
stable
security definer
set search_path = ''
as $$
  select k.id, k.name, k.start, k.scopes, k.created_at, k.expires_at, k.last_used_at
    from auth.api_key k
   where k.user_id = of_user and (k.created_at, k.id) < (coalesce(next, 'infinity'), coalesce(next_id, ''))
   order by k.created_at desc, k.id desc
   limit most
$$;

comment on function svc_private.studio_api_keys(text, timestamptz, text, integer) is
  'API keys of a user without their hashes, the newest first. '
  'Definer: svc_studio_read may not read the schema auth.';

grant execute on function svc_private.studio_api_keys(text, timestamptz, text, integer) to svc_studio_read;
