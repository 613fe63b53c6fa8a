-- Describes one table or view: columns, constraints, indexes, triggers, row-level security, policies, privileges and
-- comments. Called by dump_schema().

create or replace function svc_private.dump_relation(relation oid)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
declare
  name constant text := relation::regclass::text;
begin
  return query select '';
  return query
    select format('-- %s %s owner %s%s',
             case when c.relkind in ('v', 'm') then 'View' else 'Table' end, name,
             pg_catalog.pg_get_userbyid(c.relowner),
             case when c.relkind in ('r', 'p') and not c.relrowsecurity then ' WITHOUT ROW LEVEL SECURITY' else '' end)
      from pg_catalog.pg_class c where c.oid = relation;

  return query
    select format('column %s %s%s%s', a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
             case when a.attnotnull then ' not null' else '' end,
             coalesce(case when a.attgenerated <> '' then ' generated ' else ' default ' end
               || pg_catalog.pg_get_expr(d.adbin, d.adrelid), ''))
      from pg_catalog.pg_attribute a
      left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
     order by a.attnum;

  -- PostgreSQL 18 lists NOT NULL as constraints; the columns above say so already.
  return query
    select format('constraint %s %s', k.conname, pg_catalog.pg_get_constraintdef(k.oid))
      from pg_catalog.pg_constraint k where k.conrelid = relation and k.contype <> 'n' order by k.conname;
  return query
    select pg_catalog.pg_get_indexdef(i.indexrelid)
      from pg_catalog.pg_index i
     where i.indrelid = relation and not exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid)
     order by 1;
  return query
    select pg_catalog.pg_get_triggerdef(t.oid)
      from pg_catalog.pg_trigger t where t.tgrelid = relation and not t.tgisinternal order by t.tgname;

  return query
    select format('policy %s for %s to %s%s%s', p.policyname, lower(p.cmd), array_to_string(p.roles, ', '),
             coalesce(' using ' || p.qual, ''), coalesce(' with check ' || p.with_check, ''))
      from pg_catalog.pg_policies p
     where format('%I.%I', p.schemaname, p.tablename)::regclass = relation
     order by p.policyname;

  return query
    select format('grant %s to %s', string_agg(lower(a.privilege_type), ', ' order by a.privilege_type),
             svc_private.role_name(a.grantee))
      from pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
     where c.oid = relation and a.grantee <> c.relowner
     group by a.grantee order by svc_private.role_name(a.grantee);
  return query
    select format('grant %s (%s) to %s', lower(a.privilege_type), string_agg(t.attname, ', ' order by t.attnum),
             svc_private.role_name(a.grantee))
      from pg_catalog.pg_attribute t, pg_catalog.aclexplode(t.attacl) a
     where t.attrelid = relation and t.attnum > 0 and not t.attisdropped
     group by a.privilege_type, a.grantee order by 1;

  return query
    select format('comment%s: %s', coalesce(' on ' || a.attname, ''), d.description)
      from pg_catalog.pg_description d
      left join pg_catalog.pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid and d.objsubid > 0
     where d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = relation
     order by d.objsubid;
end
$$;

comment on function svc_private.dump_relation(oid) is 'One table or view as text, for dump_schema().';
