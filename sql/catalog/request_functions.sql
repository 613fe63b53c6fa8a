-- Functions that a request can make PostgreSQL run. Read by the linter's rules about the contents of functions.
--
-- A request runs a function that it may execute, and a trigger's function without a check of EXECUTE. Such a function
-- may run with its owner's rights and call others that the request could not call itself. PostgreSQL does not record
-- which functions a body calls, so a name before a parenthesis counts as a call: this may report one too many, never
-- too few.
--
-- Every trigger counts: a cascade, or a function with its owner's rights, also writes where requests may not.

create or replace view svc_private.request_functions as
with recursive own as (
  select p.oid, p.proname, p.prosecdef,
         svc_private.code_text(coalesce(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc)) as source,
         p.prorettype = 'pg_catalog.trigger'::regtype as is_trigger
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname in ('plpgsql', 'sql')
   where n.nspname not in ('graphile_worker', 'information_schema') and n.nspname not like 'pg\_%'
     and not exists (select from pg_catalog.pg_depend d
                      where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
), reached as (
  select o.oid, o.source, o.prosecdef or o.is_trigger as as_owner
    from own o
   where o.is_trigger and exists (select from pg_catalog.pg_trigger t where t.tgfoid = o.oid)
      or not o.is_trigger and (has_function_privilege('svc_anonymous', o.oid, 'execute')
                               or has_function_privilege('svc_authenticated', o.oid, 'execute'))
  union
  select o.oid, o.source, true
    from reached r
   cross join lateral (
     -- The body is read once, not once for each function that there is.
     select array_agg(distinct call[1]) as names from regexp_matches(r.source, '([[:alnum:]_]+)"?\s*\(', 'g') as call
   ) as called
    join own o on o.oid <> r.oid and not o.is_trigger
     and case when o.proname !~ '[^[:alnum:]_]' then o.proname = any (called.names)
              else strpos(r.source, o.proname) > 0
               and r.source ~ ('(^|[^[:alnum:]_])' || regexp_replace(o.proname, '([^[:alnum:]_])', '\\\1', 'g') || '"?\s*\(') end
   where r.as_owner
)
select distinct oid from reached;

comment on view svc_private.request_functions is
  'Functions that a request can make PostgreSQL run: by calling them, by triggers, or by functions with their owner''s rights.';
