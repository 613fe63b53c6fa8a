-- After the last number of a sequence every insert fails. An integer key counts to 2^31 - 1.

create or replace view svc_private.lint_exhausted_sequence as
select case when s.used > 0.9 then 'error' else 'warning' end as severity, 'pg_catalog.pg_class'::regclass as catalog,
       s.oid as object, 0 as part, s.oid::regclass::text as name,
       format('has used %s %% of its numbers', round(100 * s.used)) as problem,
       'Make the column and its sequence bigint before the last number is given out.' as remedy
  from (select q.seqrelid as oid,
               -- Of a sequence that this login may not read, such as one of the administrator's, PostgreSQL tells nothing.
               coalesce(case when has_sequence_privilege(q.seqrelid, 'select, usage') then
                 pg_catalog.pg_sequence_last_value(q.seqrelid) end, 0)::numeric / least(q.seqmax, case t.atttypid
                 when 'smallint'::regtype then 32767 when 'integer'::regtype then 2147483647 else q.seqmax end) as used
          from pg_catalog.pg_sequence q
          join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_class'::regclass and d.objid = q.seqrelid
           and d.refclassid = 'pg_catalog.pg_class'::regclass and d.deptype in ('a', 'i')
          join svc_private.relations r on r.oid = d.refobjid
          join pg_catalog.pg_attribute t on t.attrelid = d.refobjid and t.attnum = d.refobjsubid
         where q.seqincrement > 0 and not q.seqcycle) as s
 where s.used > 0.5;

comment on view svc_private.lint_exhausted_sequence is 'Sequences of columns that have used more than half of their numbers.';
