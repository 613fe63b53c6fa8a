-- The latest acts of operators.

create or replace function svc_private.studio_acts(most integer)
returns setof svc.operator_acts
language sql
stable
security definer
set search_path = ''
as $$
  select * from svc.operator_acts a order by a.id desc limit most
$$;

comment on function svc_private.studio_acts(integer) is
  'The latest acts of operators, newest first. Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_acts(integer) to svc_studio_read;
