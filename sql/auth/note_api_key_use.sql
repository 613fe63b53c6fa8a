-- Notes that an API key was used. Called by src/auth/api-keys/key-lookup.ts as svc_auth, and no request waits for it. A row
-- that is locked is left: another process notes the same.

create or replace function auth.note_api_key_use(key_id text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  update auth.api_key k
     set last_used_at = now()
   where k.id = any (array(
     select d.id from auth.api_key d
      where d.id = key_id and coalesce(d.last_used_at < now() - interval '10 minutes', true)
        for no key update skip locked
   ));
end
$$;

grant execute on function auth.note_api_key_use(text) to svc_auth;

comment on function auth.note_api_key_use(text) is 'Notes the use of an API key, at most once in ten minutes.';
