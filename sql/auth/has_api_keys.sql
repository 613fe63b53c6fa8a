-- Whether a user has an API key that has not expired. Called by src/migrate/check-application.ts as svc_owner.

create or replace function auth.has_api_keys()
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (select from auth.api_key k where k.expires_at > now())
$$;

comment on function auth.has_api_keys() is 'Whether a user has an API key that has not expired.';
