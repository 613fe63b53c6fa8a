-- Revokes an API key of a user, or all of them. Called by src/auth/ as svc_auth: by the user, and when somebody proves the
-- address of an account for the first time (src/auth/unproven-access.ts). The trigger of the table ends the cached keys and
-- the sockets (notify_session_end.sql).

create or replace function auth.remove_api_keys(user_id text, only_key text)
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  removed integer;
begin
  delete from auth.api_key k
   where k.user_id = remove_api_keys.user_id and (only_key is null or k.id = only_key);
  get diagnostics removed = row_count;
  return removed;
end
$$;

grant execute on function auth.remove_api_keys(text, text) to svc_auth;

comment on function auth.remove_api_keys(text, text) is
  'Revokes one API key of a user, or all where it is null; returns how many there were.';
