-- A policy looks in another table whether the caller belongs to a row's team, and callers write that table themselves: the
-- condition names the user's column, but not the team's. So every user can join every team. Rows of memberships need a
-- writer who checks that: a function with its owner's rights, a handler that runs as the system, or a condition on the team.
-- If everybody may join, say so in a comment.

create or replace view svc_private.lint_self_granted_access as
select distinct on (w.oid)
       'warning' as severity, 'pg_catalog.pg_policy'::regclass as catalog, w.oid as object, 0 as part, w.name,
       format('lets users choose %I, by which %s decides: they give themselves access', a.attname, p.name) as problem,
       format('Let nobody write %s in requests, as ownerRls(…, { write: "nobody" }) declares, or check in the condition who may choose %I.',
              w.relation_name, a.attname) as remedy
  from svc_private.policy_rules p
  join svc_private.relations t on t.oid = p.relid and not t.is_platform
  join lateral (
    select d.refobjid as relid, d.refobjsubid as attnum, concat(p.using_text, ' ', p.check_text) as condition
      from pg_catalog.pg_depend d
     where d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
       and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> p.relid
     union all
    -- The function that it calls, such as my_teams(), gives the teams. A restrictive policy with one takes access away.
    select m.oid, c.attnum, f.code
      from (
        select q.oid, regexp_replace(svc_private.code_text(coalesce(pg_catalog.pg_get_function_sqlbody(q.oid), q.prosrc)),
                                     '\s+', ' ', 'g') as code
          from pg_catalog.pg_proc q where q.pronamespace <> all ('{svc,svc_hidden,svc_private,pg_catalog}'::regnamespace[])
      ) f
      join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
       and d.refclassid = 'pg_catalog.pg_proc'::regclass and d.refobjid = f.oid
      join svc_private.relations m on strpos(f.code, m.relation) > 0 and m.oid <> p.relid and not m.is_platform
      join pg_catalog.pg_attribute c on c.attrelid = m.oid and c.attnum > 0 and not c.attisdropped and strpos(f.code, c.attname) > 0
     where p.permissive
  ) as asked on true
  join pg_catalog.pg_attribute a on a.attrelid = asked.relid and a.attnum = asked.attnum
  join svc_private.policy_rules w on w.relid = asked.relid and w.permissive
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 cross join lateral svc_private.name_pattern(a.attname) as team
 cross join lateral svc_private.name_pattern(t.relation) as rows_of
 where (w.for_everybody or role.name = any (w.roles))
   and case w.command when 'insert' then has_column_privilege(role.name, w.relid, a.attnum, 'insert')
                      when 'update' then has_column_privilege(role.name, w.relid, a.attnum, 'update')
                      when 'all' then has_column_privilege(role.name, w.relid, a.attnum, 'insert, update') end
   -- The column is what the sub-select gives, or it is compared with the row. The owner's own column is checked.
   and asked.condition ~* format(
     'SELECT (DISTINCT )?([[:alnum:]_"]+\.)?%1$s\M[^,]* FROM |\.%1$s\)?(::text)? = \(?%2$s\.|\m%2$s\.[[:alnum:]_"]+\)?(::text)? = \(?([[:alnum:]_"]+\.)%1$s\M',
     team, rows_of)
   -- A unique value cannot be claimed twice, so it names a row and no team.
   and not exists (
     select from pg_catalog.pg_index i where i.indrelid = w.relid and i.indisunique and i.indkey::text = a.attnum::text)
   and not exists (
     select from svc_private.policy_rules c
      where c.relid = w.relid and (c.oid = w.oid or not c.permissive and c.command in (w.command, 'all'))
        and coalesce(c.check_text, c.using_text) ~ ('(^|[^[:alnum:]_"])' || team || '($|[^[:alnum:]_"])'))
 order by w.oid, p.command not in ('select', 'all'), p.name, a.attnum;

comment on view svc_private.lint_self_granted_access is
  'Policies with which users write the memberships that decide what they may see.';
