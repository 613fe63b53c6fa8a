-- The latest backups and trial restores.

create or replace function svc_private.studio_backups(most integer)
returns setof svc.operator_acts
language sql
stable
security definer
set search_path = ''
as $$
  select * from svc.operator_acts a where a.act in ('db_backup', 'db_verify') order by a.id desc limit most
$$;

comment on function svc_private.studio_backups(integer) is
  'The latest backups and trial restores, newest first. Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_backups(integer) to svc_studio_read;
