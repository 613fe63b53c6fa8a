-- PostgreSQL checks a foreign key as the owner of the tables, without policies. Callers who write the key themselves can
-- name a row that is hidden from them: they learn that it exists, attach their own rows to it, and may prevent its
-- deletion. The policy of the referring table must check that the caller sees the referenced row. Of a key of several columns
-- it is enough if the policy names one, such as the owner or the team. Keys to auth are left out: there the key is the owner.

create or replace view svc_private.lint_reference_past_policy as
select distinct on (k.oid)
       'warning' as severity, 'pg_catalog.pg_constraint'::regclass as catalog, k.oid as object, 0 as part,
       format('%I on %s', k.conname, r.name) as name,
       format('lets %s refer to rows of %s that are hidden from them', role.name, f.name) as problem,
       case when f.oid = r.oid or back.is_read then  -- PostgreSQL refuses a policy that reads its own table
         format('Let the condition of %s call a function %s that checks whether the caller may refer to %s.%s. '
                'A policy must not read its own table%s.', p.policy,
                case when p.command = 'all' then 'with security definer and set search_path = '''''
                     else format('without security definer, which reads %s under the policies for reading,', f.name) end,
                r.relation, key.columns, case when f.oid <> r.oid then format(', and the policies of %s read it', f.name) end)
       else
         format('Add to the condition of %s: exists (select from %s as seen where %s). Its own policies apply there.',
                p.policy, f.name, key.condition)
       end as remedy
  from pg_catalog.pg_constraint k
  join svc_private.relations r on r.oid = k.conrelid
  join svc_private.relations f on f.oid = k.confrelid and f.has_rls and f.schema <> 'auth'
 cross join lateral (
   select string_agg(quote_ident(a.attname), ', ' order by u.place) as columns,
          string_agg(format('seen.%I = %s.%I', g.attname, r.relation, a.attname), ' and ' order by u.place) as condition,
          string_agg(svc_private.name_pattern(a.attname), '|') as pattern
     from unnest(k.conkey, k.confkey) with ordinality as u (attnum, referenced, place)
     join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.attnum
     join pg_catalog.pg_attribute g on g.attrelid = k.confrelid and g.attnum = u.referenced
 ) as key
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
  join svc_private.policy_rules p on p.relid = r.oid and p.permissive and (p.for_everybody or role.name = any (p.roles))
 cross join lateral (
   -- The expressions are read as PostgreSQL keeps them, where each relation of a sub-select stands by its number.
   select coalesce(bool_or(e.polqual::text like format('%%:relid %s %%', r.oid::oid)), false) as is_read
     from svc_private.policy_rules s
     join pg_catalog.pg_policy e on e.oid = s.oid
    where s.relid = f.oid and s.command in ('select', 'all') and (s.for_everybody or role.name = any (s.roles))
 ) as back
 where k.contype = 'f'
   and exists (
     select from unnest('{insert,update}'::text[]) as write (command)
      where p.command in (write.command, 'all')
        and (select bool_and(has_column_privilege(role.name, r.oid, u.attnum, write.command)) from unnest(k.conkey) as u (attnum))
        and not svc_private.refuses_every_row(r.oid, write.command, role.name, p.oid))
   and not exists (
     -- The condition itself, or a restrictive one, names a column of the key, so it decides which rows may be referenced.
     select from svc_private.policy_rules c
      where c.relid = r.oid
        and (c.oid = p.oid or not c.permissive and c.command in (p.command, 'all')
                              and (c.for_everybody or role.name = any (c.roles)))
        and coalesce(c.check_text, c.using_text) ~
            ('(^|[^[:alnum:]_"])(' || key.pattern || ')($|[^[:alnum:]_"])'))
   and not (
     -- Who writes sees every row: a policy that is always true, or has the same condition on the caller alone, such as one
     -- for staff; and no restrictive one beside it, as recipes for teams have.
     select coalesce(bool_or(s.permissive and (s.using_text = 'true'
                                               or not s.names_columns and s.using_text = coalesce(p.check_text, p.using_text))), false)
            and bool_and(s.permissive)
       from svc_private.policy_rules s
      where s.relid = f.oid and s.command in ('select', 'all') and (s.for_everybody or role.name = any (s.roles)))
 order by k.oid, role.name, p.policy;

comment on view svc_private.lint_reference_past_policy is
  'Foreign keys with which callers can reference rows that they do not see.';
