-- A policy calls a function with the rights of its owner, which looks for the caller in a column of another table: who is
-- blocked, or shared with. Realtime tells changes of that table to its owners alone, and this column is not one of theirs.
-- So who is named there does not hear of it: an open page keeps showing what the policy hides by now.

-- The replica identity says who is told of a change: it has the key, and the columns of the owners or of the team.

create or replace view svc_private.lint_untold_reader as
select distinct on (f.oid, t.oid, a.attnum)
       'warning' as severity, 'pg_catalog.pg_proc'::regclass as catalog, f.oid as object, 0 as part,
       format('%s()', f.oid::regproc) as name,
       format('decides in %s by %s.%I, of whose changes the user in this column is not told: open pages show what it hides by now',
              asked.policy, t.name, a.attname) as problem,
       format('Declare who is told, ownerRls(…, { read: [t.%s] }). If these users must not read the rows, add a restrictive policy for select on %s.',
              a.attname, t.name) as remedy
  from (
    select d.refobjid as oid, min(p.name) as policy
      from svc_private.policy_rules p
      join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
       and d.refclassid = 'pg_catalog.pg_proc'::regclass
     where p.command in ('select', 'all')
     group by 1
  ) as asked
  join pg_catalog.pg_proc f on f.oid = asked.oid and f.prosecdef
 cross join lateral (select coalesce(pg_catalog.pg_get_function_sqlbody(f.oid), f.prosrc) as body offset 0) as source
 cross join lateral (
   -- svc.current_user_id(), also as what a variable is set to.
   select format('(svc\.current_user_id\(\)%s)',
            '|\m' || substring(source.body from '(?i)(\w+)\s+(?:constant\s+)?\w+\s*:=\s*\(?\s*(?:select\s+)?svc\.current_user_id\(') || '\M') as it
   offset 0
 ) as caller
  join svc_private.relations t on not t.is_platform and strpos(source.body, t.relation) > 0
  join pg_catalog.pg_class c on c.oid = t.oid and c.relreplident = 'i'
  join pg_catalog.pg_index i on i.indrelid = t.oid and i.indisreplident and not i.indisprimary
  join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attnum <> all (i.indkey)
   and strpos(source.body, a.attname) > 0
 cross join lateral svc_private.name_pattern(a.attname) as named
 where source.body ~ ('(^|[^[:alnum:]_"])' || svc_private.name_pattern(t.relation) || '($|[^[:alnum:]_"])')
   and source.body ~* format('(^|[^[:alnum:]_"])%1$s\)?(::\w+)?\s*=\s*\(*\s*(select\s+)?%2$s|%2$s[^[:alnum:]]*(as \w+\s*\)\s*)?(=|in)\s*\(?([^()]*[^[:alnum:]_"])?%1$s($|[^[:alnum:]_"])',
                             named, caller.it)
 order by f.oid, t.oid, a.attnum;

comment on view svc_private.lint_untold_reader is
  'Columns by which functions of policies decide, and whose users do not hear of the changes.';
