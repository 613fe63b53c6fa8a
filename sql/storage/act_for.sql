-- Sets the user for whom the rest of the transaction asks the policies. Called by functions that svc_system runs on behalf
-- of users: those that finish uploads, and those that look what the issuer of a read grant may see.
--
-- Never to be called where SQL of a request could follow in the same transaction. Only svc_system may execute it, and not
-- the readers: a function that reads as a request's role cannot change for whom it reads.

create or replace function svc_private.act_for(user_id text)
returns void
language plpgsql
volatile  -- SET is refused in functions that are not
set search_path = ''
as $$
begin
  execute format('set local svc.user_id = %L', coalesce(user_id, ''));
end
$$;

comment on function svc_private.act_for(text) is 'Lets policies see this user, or nobody for null, until the transaction ends.';
