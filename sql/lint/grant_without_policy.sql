-- A role has a privilege, and no policy for that command: every row is refused. A later policy FOR ALL would open the
-- command by accident.

create or replace view svc_private.lint_grant_without_policy as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       format('%s may %s by its grant, and no policy lets it', role.name, privilege) as problem,
       format('revoke %s on %s from %s; or write the policy.', privilege, r.name, role.name) as remedy
  from svc_private.relations r
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 cross join unnest('{select,insert,update,delete}'::text[]) as privilege
 where r.kind in ('r', 'p') and r.has_rls
   and case role.name when 'svc_anonymous' then r.anonymous_reaches else r.users_reach end
   and case privilege when 'delete' then has_table_privilege(role.name, r.oid, 'delete')
                      else has_any_column_privilege(role.name, r.oid, privilege) end
   and exists (select from pg_catalog.pg_policy any_policy where any_policy.polrelid = r.oid)
   and not exists (
     select from svc_private.policy_rules p
      where p.relid = r.oid and p.permissive and p.command in ('all', privilege)
        and (p.for_everybody or exists (
          select from unnest(p.roles) as wanted (name) where pg_has_role(role.name::name, wanted.name::name, 'usage'))));

comment on view svc_private.lint_grant_without_policy is 'Privileges of the request roles that no policy makes usable.';
