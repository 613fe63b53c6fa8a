-- LOCK TABLE in a function that requests run blocks the table for everybody until the transaction ends; DELETE on the
-- table is privilege enough for the strongest lock. LISTEN stays active on a connection that others use next. NOTIFY
-- sends messages to other processes without a check. A caller's SQL cannot contain these statements, but it can call
-- such a function.

create or replace view svc_private.lint_blocking_statement as
select 'warning' as severity, 'pg_catalog.pg_proc'::regclass as catalog, p.oid as object, 0 as part, p.oid::regprocedure::text as name,
       format('runs %s inside requests', upper(found.statement)) as problem,
       case lower(found.statement)
         when 'lock' then 'Lock rows (SELECT … FOR UPDATE), or a name: select svc.lock(''…'').'
         else 'Add a job, or emit a message to subscribers.' end as remedy
  from pg_catalog.pg_proc p
  join svc_private.request_functions r on r.oid = p.oid
  join lateral (
    select distinct statement[1] as statement
      from regexp_matches(
        -- Comments are removed. The rule executed_text covers EXECUTE, except with a constant text.
        regexp_replace(
          svc_private.code_text(p.prosrc),
          '\mexecute\s+''\s*(lock|listen|unlisten|notify)\M', '; \1 ', 'gi'),
        '(?:^|;|\m(?:begin|then|else|loop)\M)\s*(lock|listen|unlisten|notify)\s+[[:alpha:]"]', 'gi') as statement
  ) as found on true
 where p.pronamespace <> all ('{svc,svc_hidden,svc_private,auth}'::regnamespace[]);

comment on view svc_private.lint_blocking_statement is 'Functions that a request can make PostgreSQL run, and that lock tables, listen or notify.';
