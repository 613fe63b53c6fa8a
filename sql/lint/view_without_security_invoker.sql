-- A view reads its tables as its owner, without the policies of the caller, unless it is a security invoker.

create or replace view svc_private.lint_view_without_security_invoker as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       'reads its tables as its owner, without the caller''s policies' as problem,
       format('alter view %s set (security_invoker = true);', r.name) as remedy
  from svc_private.relations r
 where r.kind = 'v'
   and not coalesce((select o.option_value::boolean from pg_catalog.pg_options_to_table(r.options) o
                      where o.option_name = 'security_invoker'), false)
   and (r.anonymous_reaches and has_any_column_privilege('svc_anonymous', r.oid, 'select, insert, update')
        or r.users_reach and has_any_column_privilege('svc_authenticated', r.oid, 'select, insert, update'));

comment on view svc_private.lint_view_without_security_invoker is
  'Views that requests may read and that bypass row-level security.';
