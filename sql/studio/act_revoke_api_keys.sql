-- An operator's revocation of an API key by its id, or of all keys of a user, with its line in svc.operator_acts. Called by
-- `svc keys revoke` and Studio. The trigger of auth.api_key ends cached keys and sockets.

create or replace function svc_private.act_revoke_api_keys(only_key text, of_user text)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  revoked integer;
begin
  delete from auth.api_key k
   where k.id = only_key
      or only_key is null and k.user_id in (
        select u.id from auth."user" u where u.id = of_user or u.email = svc_private.lower_address(of_user)
      );
  get diagnostics revoked = row_count;
  if revoked > 0 then
    perform svc_private.note_act('act_revoke_api_keys',
      jsonb_strip_nulls(jsonb_build_object('key', only_key, 'user', of_user)), revoked || ' revoked');
  end if;
  return revoked;
end
$$;

comment on function svc_private.act_revoke_api_keys(text, text) is
  'Revokes one API key, or all of a user by id or address, and writes the act; the number of them, and no line when it is '
  '0. Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_revoke_api_keys(text, text) to svc_studio_act;
