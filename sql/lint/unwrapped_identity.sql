-- A policy calls a bare svc.current_user_id() for every row, and a sub-select once per query.

create or replace view svc_private.lint_unwrapped_identity as
select 'warning' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       'evaluates the caller''s identity once per row' as problem, 'Write (select svc.current_user_id()).' as remedy
  from svc_private.policy_rules p
 where concat(p.using_text, ' ', p.check_text) ~ '(svc\.current_user_id|current_setting)\('
   and regexp_replace(concat(p.using_text, ' ', p.check_text),
         '\( SELECT \(*((NULLIF|COALESCE)\()?(svc\.current_user_id\(\)|[^()]*current_setting\([^()]*\))', '', 'g')
       ~ '(svc\.current_user_id|current_setting)\(';

comment on view svc_private.lint_unwrapped_identity is 'Policies that evaluate the caller''s identity per row.';
