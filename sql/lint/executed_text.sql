-- EXECUTE takes several statements, and in a volatile function one of them may be SET: whoever gets text of their own in
-- becomes somebody else. A loop over FOR … IN EXECUTE, RETURN QUERY EXECUTE, and stable functions refuse that; identifiers and
-- values belong in format()'s %I and %L all the same.

create or replace view svc_private.lint_executed_text as
select 'warning' as severity, 'pg_catalog.pg_proc'::regclass as catalog, p.oid as object, 0 as part, p.oid::regprocedure::text as name,
       'puts text together and runs it inside requests, where it could set the identity' as problem,
       'Declare it stable if it only reads; else loop over FOR … IN EXECUTE, or use RETURN QUERY EXECUTE.' as remedy
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
 where p.provolatile = 'v' and p.prorettype <> 'pg_catalog.trigger'::regtype
   and n.nspname not in ('graphile_worker', 'information_schema') and n.nspname not like 'pg\_%'
   and (has_function_privilege('svc_anonymous', p.oid, 'execute') or has_function_privilege('svc_authenticated', p.oid, 'execute'))
   -- Comments, text that is constant, and what makes a cursor are taken away; EXECUTE is also a word of GRANT and of triggers.
   and regexp_replace(p.prosrc, '--[^\n]*|\m(in|query)\s+execute\M|\mexecute\s+''[^'']*''\s*(;|into|using)', '', 'gi')
       ~* '\mexecute\s+(?!on\M|function\M|procedure\M|privilege)'
   and not exists (select from pg_catalog.pg_depend d
                    where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e');

comment on view svc_private.lint_executed_text is 'Volatile functions that requests may call and that run text.';
