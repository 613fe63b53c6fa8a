-- Inserts look a column up elsewhere: only who bought a product may review it, only members of a team may post in it. Updates
-- that may change the column and do not check it bring the row where no insert would: the review moves to another product.
-- Only columns that are compared with other rows count, in a sub-select or as argument of a function. A status that must be
-- 'draft' at first may change later.

create or replace view svc_private.lint_unchecked_update as
select distinct on (u.oid, a.attnum)
       'warning' as severity, 'pg_catalog.pg_policy'::regclass as catalog, u.oid as object, 0 as part, u.name,
       format('lets %s change %I, which %s checks for inserts only', role.name, a.attname, i.policy) as problem,
       -- Generated update names all columns of the table, so that it needs the right on each.
       format('Add the condition of %s to the check for updates. Or, without update of createCrud, revoke update (%I) on %s from %s.',
              i.policy, a.attname, u.relation_name, role.name) as remedy
  from svc_private.policy_rules i
  join svc_private.relations r on r.oid = i.relid
  join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 cross join lateral (
   select svc_private.name_pattern(a.attname) as it,
          svc_private.name_pattern(r.relation) as relation) as quoted
 cross join lateral (
   -- As pg_get_expr() writes a column inside a sub-select, compared with one, and inside the call of a function.
   select format('(^|[^.[:alnum:]_"])(%2$s\.%1$s($|[^[:alnum:]_"])|%1$s\)?(::text)? (= ANY \(ARRAY\( SELECT|IN \( SELECT)|[[:alnum:]_"]+\.[[:alnum:]_"]+\(([^()]*[^.[:alnum:]_"])?%1$s[^[:alnum:]_"])',
                 quoted.it, quoted.relation) as looked_up,
          format('(^|[^[:alnum:]_"])%s($|[^[:alnum:]_"])', quoted.it) as named) as pattern
  join svc_private.policy_rules u on u.relid = r.oid and u.permissive and u.command in ('update', 'all')
   and (u.for_everybody or role.name = any (u.roles))
 where i.command = 'insert' and (i.for_everybody or role.name = any (i.roles))
   and strpos(i.check_text, quote_ident(a.attname)) > 0 -- most columns are not in the text: a pattern for each is dear
   and i.check_text ~ pattern.looked_up
   and has_column_privilege(role.name, r.oid, a.attnum, 'update')
   -- Every insert is checked so: by a restrictive policy, or by each permissive one.
   and (not i.permissive or not exists (
     select from svc_private.policy_rules other
      where other.relid = r.oid and other.permissive and other.command in ('insert', 'all')
        and (other.for_everybody or role.name = any (other.roles))
        and coalesce(other.check_text, other.using_text) !~ pattern.looked_up))
   and not exists (
     select from svc_private.policy_rules c
      where c.relid = r.oid and (c.oid = u.oid or not c.permissive and c.command in ('update', 'all')
                                 and (c.for_everybody or role.name = any (c.roles)))
        and coalesce(c.check_text, c.using_text) ~ pattern.named)
 order by u.oid, a.attnum, role.name, i.permissive, i.policy;

comment on view svc_private.lint_unchecked_update is
  'Columns that policies look up when a row is inserted, and that updates change without a check.';
