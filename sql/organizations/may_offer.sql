-- Whether a member with the first role may give the second: owners give every role, admins every one but owner. Also: whether
-- they may take it away.

create or replace function svc_private.may_offer(role text, offered text)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select role = 'owner' or (role = 'admin' and offered <> 'owner')
$$;

comment on function svc_private.may_offer(text, text) is 'Whether a member with the first role may give and take the second.';
