-- EXECUTE accepts several statements, and in a volatile function one of them may be SET: a caller who gets text of
-- their own into the statement can become another user. A loop over FOR … IN EXECUTE, RETURN QUERY EXECUTE, and stable
-- functions reject that. Put identifiers and values in with format()'s %I and %L in any case. The text of a trigger is
-- the most dangerous: it is built from a row that a caller of the API sent, and no privilege on the function is
-- checked.

create or replace view svc_private.lint_executed_text as
select 'warning' as severity, 'pg_catalog.pg_proc'::regclass as catalog, p.oid as object, 0 as part, p.oid::regprocedure::text as name,
       'builds SQL text and executes it inside requests, where it could set the identity' as problem,
       case when p.prorettype = 'pg_catalog.trigger'::regtype
         then 'Write a fixed statement, or pass the row''s values by USING; use %I for names that are not from a row.'
         else 'Declare it stable if it only reads; else loop over FOR … IN EXECUTE, or use RETURN QUERY EXECUTE.' end as remedy
  from pg_catalog.pg_proc p
  join svc_private.request_functions r on r.oid = p.oid
  join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
 where p.provolatile = 'v'
   -- Comments, constant texts and EXECUTE that opens a cursor are removed. EXECUTE also occurs in GRANT and CREATE TRIGGER.
   and regexp_replace(svc_private.code_text(p.prosrc), '\m(in|query)\s+execute\M|\mexecute\s+''[^'']*''\s*(;|into|using)', '', 'gi')
       ~* '\mexecute(\s*\(|\s+(?!on\M|function\M|procedure\M|privilege))';

comment on view svc_private.lint_executed_text is 'Volatile functions that a request can make PostgreSQL run, and that run text.';
