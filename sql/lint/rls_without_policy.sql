-- Row-level security is on and there is a grant, but no policy: every request finds the table empty. This is safe, but
-- hardly intended.

create or replace view svc_private.lint_rls_without_policy as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       'has grants but no policy: requests find it empty' as problem,
       'Write policies (ownerRls, openRls, memberRls), or revoke the grants.' as remedy
  from svc_private.relations r
 where r.kind in ('r', 'p') and r.has_rls
   and (has_any_column_privilege('svc_anonymous', r.oid, 'select, insert, update')
        or has_any_column_privilege('svc_authenticated', r.oid, 'select, insert, update'))
   and not exists (select from pg_catalog.pg_policy p where p.polrelid = r.oid);

comment on view svc_private.lint_rls_without_policy is 'Tables with grants to the request roles and without policies.';
