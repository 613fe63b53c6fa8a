-- The name of a column suggests a secret, and callers without an account may read the table.

create or replace view svc_private.lint_sensitive_column_exposed as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, a.attnum::integer as part,
       format('%s.%I', r.name, a.attname) as name,
       'is named like a secret, and callers without an account may read it' as problem,
       format('revoke select on %s from svc_anonymous; grant the other columns by name.', r.name) as remedy
  from svc_private.relations r
  join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
 where r.anonymous_reaches and not r.is_platform and has_column_privilege('svc_anonymous', r.oid, a.attnum, 'select')
   and regexp_replace(a.attname, '([a-z0-9])([A-Z])', '\1_\2', 'g') ~* '(^|_)(password|passwd|pwd|secret|api_?key|access_?token|refresh_?token|private_?key|ssn|iban|credit_?card|cvv)($|_)'
   and (r.kind in ('v', 'm', 'f') or exists (
     select from svc_private.policy_rules p
      where p.relid = r.oid and p.permissive and p.command in ('all', 'select')
        and (p.for_everybody or 'svc_anonymous' = any (p.roles))));

comment on view svc_private.lint_sensitive_column_exposed is 'Columns named like secrets that callers without an account may read.';
