-- Whether policies refuse a command on every row of a relation to a role, because their condition is false: a restrictive
-- policy, or the named one, which gives the permission. Called by views of the linter.

create or replace function svc_private.refuses_every_row(relation oid, command text, role_name text, permission oid default null)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select from svc_private.policy_rules p
     where p.relid = relation
       and (p.oid = permission or not p.permissive and p.command in (refuses_every_row.command, 'all')
                                  and (p.for_everybody or role_name = any (p.roles)))
       and case refuses_every_row.command
             when 'insert' then coalesce(p.check_text, p.using_text) = 'false'
             when 'update' then 'false' in (p.using_text, coalesce(p.check_text, p.using_text))
             else p.using_text = 'false'
           end)
$$;

comment on function svc_private.refuses_every_row(oid, text, text, oid) is
  'Whether the condition of a restrictive policy, or of the named one, is false for a command of a role.';
