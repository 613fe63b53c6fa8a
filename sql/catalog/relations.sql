-- The relations of the platform and of the application, without those of extensions, of the queue's library and of
-- PostgreSQL itself. The linter, `svc policies` and `svc db drift` read this view.

create or replace view svc_private.relations as
select c.oid, n.nspname as schema, c.relname as relation, format('%I.%I', n.nspname, c.relname) as name, c.relkind as kind,
       n.nspname in ('svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'extensions') as is_platform,
       c.relrowsecurity as has_rls, c.reloptions as options, c.relowner as owner, c.relpersistence as persistence,
       has_schema_privilege('svc_anonymous', n.oid, 'usage') as anonymous_reaches,
       has_schema_privilege('svc_authenticated', n.oid, 'usage') as users_reach
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
 where c.relkind in ('r', 'p', 'v', 'm', 'f')
   and n.nspname not in ('information_schema', 'graphile_worker') and n.nspname not like 'pg\_%'
   and not exists (
     select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e');

comment on view svc_private.relations is
  'Tables and views of the platform and the application, and whether the request roles reach their schemas.';

-- Policies with their expressions as text, and the roles by name.

-- Its name in earlier versions, with fewer columns. The files of all views that read it follow.
drop view if exists svc_private.policy_texts cascade;

create or replace view svc_private.policy_rules as
select p.oid, r.oid as relid, r.schema, r.name as relation_name, r.is_platform, r.has_rls, p.polname as policy,
       format('%s on %s', p.polname, r.name) as name,
       case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete'
                     else 'all' end as command,
       p.polpermissive as permissive,
       0 = any (p.polroles) as for_everybody,
       array(select role.rolname::text from pg_catalog.pg_roles role
              where role.oid = any (p.polroles) order by role.rolname) as roles,
       pg_catalog.pg_get_expr(p.polqual, p.polrelid) as using_text,
       pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) as check_text,
       exists (select from pg_catalog.pg_depend d
                where d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
                  and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = r.oid and d.refobjsubid > 0) as names_columns
  from pg_catalog.pg_policy p
  join svc_private.relations r on r.oid = p.polrelid;

comment on view svc_private.policy_rules is 'Policies of the platform and the application, with expressions and roles as text.';

-- The request roles to which a policy applies: those that it names, as far as they may run a statement of its command at all.

create or replace view svc_private.policy_roles as
select p.oid, role.name as role
  from svc_private.policy_rules p
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 where p.has_rls and (p.for_everybody or role.name = any (p.roles))
   and exists (
     select from unnest('{select,insert,update,delete}'::text[]) as verb (name)
      where p.command in ('all', verb.name)
        and case verb.name when 'delete' then has_table_privilege(role.name, p.relid, 'delete')
                           else has_any_column_privilege(role.name, p.relid, verb.name) end);

comment on view svc_private.policy_roles is 'The request roles to which a policy applies in a statement that they may run.';

-- Columns that a policy compares with the current user to find rows: mostly the owner's column. What only the check of
-- an insert compares is not among them: no row is looked for, and a row without an owner is refused. PostgreSQL records
-- on which columns a policy depends, but not how; only the expression's text contains the comparison.

create or replace view svc_private.identity_columns as
select distinct p.relid, p.relation_name, p.is_platform, a.attnum, a.attname as column_name, a.attnotnull as not_null
  from svc_private.policy_rules p
  join pg_catalog.pg_attribute a on a.attrelid = p.relid and a.attnum > 0 and not a.attisdropped
 where strpos(p.using_text, quote_ident(a.attname)) > 0 -- most columns are not in the text: a pattern for each is dear
   and p.using_text ~ format( -- of a varchar, or as a uuid, with a cast
         '(^|[^.[:alnum:]_"])%1$s(\)::text)? = \(*( SELECT \(*(NULLIF\()?)?svc\.current_user_id\(\)'
         || '|svc\.current_user_id\(\)(, ''''::text\))?\)*(::\w+)?( AS "?\w+"?)?\)*(::\w+)? = \(*%1$s($|[^.[:alnum:]_"])',
         svc_private.name_pattern(a.attname));

comment on view svc_private.identity_columns is 'Columns that policies compare with svc.current_user_id() to find rows.';

-- Generated columns of the old row as the write-ahead log has it: PostgreSQL 18 demands that a publication has them, too.

create or replace view svc_private.generated_identities as
select c.oid::regclass as id, a.attname as column_name, a.attgenerated = 'v' as is_virtual
  from pg_catalog.pg_class c
  join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attgenerated <> '' and not a.attisdropped
 where c.relreplident = 'f'
    or exists (select from pg_catalog.pg_index i
                where i.indrelid = c.oid and a.attnum = any (i.indkey)
                  and (i.indisreplident or c.relreplident = 'd' and i.indisprimary));

comment on view svc_private.generated_identities is 'Generated columns in replica identities.';
