-- Sets the user whose policies apply to the rest of the transaction: an id, or a whole identity (svc.current_user_id()).
-- Called by functions that svc_system runs on behalf of users: those that finish uploads, and those that check what the
-- issuer of a read grant may see. Also by svc_private.act_change_rows().
--
-- Must never be called where SQL of a request could follow in the same transaction. Only svc_system may execute it, and its
-- owner. The readers may not, so a function that reads as a request's role cannot change its user.
--
-- SET rather than set_config(), which only logins may execute. The user is a literal, and the text one statement.

create or replace function svc_private.act_for(user_id text)
returns void
language plpgsql
volatile  -- other functions may not use SET
set search_path = ''
as $$
begin
  execute format('set local svc.user_id = %L', coalesce(user_id, ''));
end
$$;

comment on function svc_private.act_for(text) is
  'Sets the user whose policies apply until the transaction ends; null means anonymous.';
