-- The functions that SQL inside a request may execute, and those that run with other rights than their caller's: for
-- `svc policies --functions` and for sql/_functions.md. The comment of a definer function gives its reason in a
-- sentence that begins with "Definer:".
--
-- A request uses three roles: the two that its SQL runs as, and the login. The login calls some functions between two
-- statements, and SQL of a request cannot switch back to it. PostgreSQL's own functions and those of extensions are
-- left out.

create or replace function svc_private.list_functions()
returns table (
  name text,           -- such as svc.lock(text)
  is_platform boolean,
  anonymous boolean,   -- whether svc_anonymous may execute it; a schema without USAGE keeps it from doing so
  authenticated boolean,
  login boolean,
  is_trigger boolean,
  is_definer boolean,
  owner text,
  writes boolean,      -- whether it is volatile
  says text,           -- its comment, without the reason and lint:allow
  reason text          -- why it runs with its owner's rights, or why the linter allows it; null without a reason
)
language sql
stable
set search_path = ''
as $$
  select format('%I.%I(%s)', n.nspname, p.proname, pg_catalog.oidvectortypes(p.proargtypes)),
         n.nspname in ('svc', 'svc_hidden', 'svc_private', 'auth'),
         may.anonymous, may.authenticated, may.login, p.prorettype = 'pg_catalog.trigger'::regtype, p.prosecdef,
         svc_private.role_name(p.proowner), p.provolatile = 'v',
         regexp_replace(said.text, '\s*(Definer:|lint:allow).*', ''),
         coalesce(
           (regexp_match(said.text, 'Definer:\s*(.+?)\s*(lint:allow.*)?$'))[1],
           (regexp_match(said.text, 'lint:allow definer_function_exposed_to_\w+:\s*(.+?)\s*(lint:allow.*)?$'))[1])
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
   cross join lateral (select coalesce(pg_catalog.obj_description(p.oid, 'pg_proc'), '') as text) as said
   cross join lateral (
     select has_schema_privilege('svc_anonymous', n.oid, 'usage') and has_function_privilege('svc_anonymous', p.oid, 'execute') as anonymous,
            has_schema_privilege('svc_authenticated', n.oid, 'usage')
              and has_function_privilege('svc_authenticated', p.oid, 'execute') as authenticated,
            has_schema_privilege('svc_request', n.oid, 'usage') and has_function_privilege('svc_request', p.oid, 'execute') as login
   ) as may
   where svc_private.is_described(n.oid) and n.nspname <> 'graphile_worker'
     and (p.prosecdef or p.prorettype <> 'pg_catalog.trigger'::regtype and (may.anonymous or may.authenticated or may.login))
     and not exists (select from pg_catalog.pg_depend d
                      where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
   order by 2, 1
$$;

comment on function svc_private.list_functions() is
  'Functions that requests may execute, and those that run with their owner''s rights, each with its reason.';
