-- What would make API keys unsafe: views through which they see the platform's tables without asking for a scope, and scopes in
-- policies that are not declared. Tables that are open to keys are found by auth.list_scope_conditions().
-- Called by src/auth/api-keys/check-scopes.ts as svc_auth, when a service starts whose defineAuth() has apiKeys.
--
-- The platform's tables ask for no scope, because otherwise only handlers reach them, by `.scope()`. A view of such a table must
-- ask itself. One with its owner's rights is for handlers alone: createCrud refuses it.

create or replace function auth.list_scope_mistakes(declared text[])
returns table (relation text, scope text)
language sql
stable
set search_path = ''
as $$
  select distinct format('%I.%I', n.nspname, v.relname), null
    from pg_catalog.pg_class v
    join pg_catalog.pg_namespace n on n.oid = v.relnamespace
    join pg_catalog.pg_rewrite w on w.ev_class = v.oid
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.objid = w.oid
                               and d.refclassid = 'pg_catalog.pg_class'::regclass
    join pg_catalog.pg_class t on t.oid = d.refobjid and t.relnamespace = 'svc'::regnamespace and t.relrowsecurity
   where v.relkind = 'v'
     and (select o.option_value::boolean from pg_catalog.pg_options_to_table(v.reloptions) o where o.option_name = 'security_invoker')
     and has_any_column_privilege('svc_authenticated', v.oid, 'select')
     and pg_catalog.pg_get_viewdef(v.oid) !~ '\mhas_scope\('
     and not exists (
       select from pg_catalog.pg_policy p
        where p.polrelid = t.oid and not p.polpermissive and p.polcmd in ('r', '*')
          and pg_catalog.pg_get_expr(p.polqual, p.polrelid) ~ '\mhas_scope\('
     )
  union all
  select distinct format('%I.%I', n.nspname, c.relname), found.scope[1]
    from pg_catalog.pg_policy p
    join pg_catalog.pg_class c on c.oid = p.polrelid and c.relrowsecurity
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   cross join lateral pg_catalog.regexp_matches(
     concat_ws(' ', pg_catalog.pg_get_expr(p.polqual, c.oid), pg_catalog.pg_get_expr(p.polwithcheck, c.oid)),
     'has_scope\(''([^'']*)''', 'g') as found (scope)
   where n.nspname !~ '^(pg_.*|information_schema|auth|svc|svc_hidden|svc_private|svc_crud|extensions|graphile_worker)$'
     and found.scope[1] <> all (declared || '{*}'::text[])
   order by 1, 2
$$;

grant execute on function auth.list_scope_mistakes(text[]) to svc_auth;

comment on function auth.list_scope_mistakes(text[]) is
  'Views that are open to every API key (scope is null), and scopes that policies ask for and that are not declared.';
