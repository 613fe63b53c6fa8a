-- Whether a policy with these conditions allows a command on no row: the condition that counts is false. Called by views of
-- the linter. A policy without a condition for the command gives null.

create or replace function svc_private.allows_nothing(command text, using_text text, check_text text)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select case command when 'insert' then coalesce(check_text, using_text) = 'false'
                      when 'update' then 'false' in (using_text, coalesce(check_text, using_text))
                      else using_text = 'false' end
$$;

comment on function svc_private.allows_nothing(text, text, text) is 'Whether the condition of a policy for a command is false.';
