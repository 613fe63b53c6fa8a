-- A policy app_… on svc.storage_objects shows a file to everybody who sees a row that names it, and callers write that row.
-- A caller who knows the id of somebody else's private file puts it into a row of their own, and reads it. The condition
-- for writing the row must call svc.owns_object() with the column, as the recipe for teams does. Where colleagues of the
-- file's owner change other columns of the row, a trigger checks it when the column changes; say so in a comment. A condition
-- without OR, NOT and CASE that demands null in the column names no file at all.

create or replace view svc_private.lint_unowned_file_shared as
select distinct on (w.oid, a.attnum)
       'warning' as severity, 'pg_catalog.pg_policy'::regclass as catalog, w.oid as object, 0 as part, w.name,
       format('lets %s name files of others in %I, which %s then shows', role.name, a.attname, p.name) as problem,
       format('Add to the condition of %s: (%I is null or svc.owns_object(%I)).%s', w.policy, a.attname, a.attname,
              case when w.command = 'update' then ' Or check it in a trigger when the column changes, and say so in a comment.' end
             ) as remedy
  from svc_private.policy_rules p
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
   and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> p.relid
  join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  join svc_private.policy_rules w on w.relid = d.refobjid and w.permissive
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 cross join lateral svc_private.name_pattern(a.attname) as named
 where p.relation_name = 'svc.storage_objects' and p.permissive and p.policy like 'app\_%'
   and p.using_text ~ format('\.%1$s = storage_objects\.id\M|\mstorage_objects\.id = [[:alnum:]_"]+\.%1$s\M|\mid (= ANY \(ARRAY\(|IN \() *SELECT (DISTINCT )?([[:alnum:]_"]+\.)?%1$s\M', named)
   and (w.for_everybody or role.name = any (w.roles))
   and exists (
     select from unnest('{insert,update}'::text[]) as write (command)
      where w.command in (write.command, 'all') and has_column_privilege(role.name, w.relid, a.attnum, write.command)
        and not svc_private.refuses_every_row(w.relid, write.command, role.name, w.oid))
   and exists (
     -- A role that reads files: no restrictive policy hides all of them from it.
     select from unnest('{svc_anonymous,svc_authenticated}'::text[]) as reader (name)
      where (p.for_everybody or reader.name = any (p.roles))
        and not svc_private.refuses_every_row(p.relid, 'select', reader.name))
   and not exists (
     select from svc_private.policy_rules c
      where c.relid = w.relid and (c.oid = w.oid or not c.permissive and c.command in (w.command, 'all')
                                   and (c.for_everybody or role.name = any (c.roles)))
        and (coalesce(c.check_text, c.using_text) ~ format('\msvc\.owns_object\(([[:alnum:]_"]+\.)?%s\)', named)
             or coalesce(c.check_text, c.using_text) ~ format('\(([[:alnum:]_"]+\.)?%s IS NULL\)', named)
             and coalesce(c.check_text, c.using_text) !~ '\m(OR|NOT|CASE)\M'))
 order by w.oid, a.attnum, role.name;

comment on view svc_private.lint_unowned_file_shared is
  'Policies with which users name files of others in rows that show these files.';
