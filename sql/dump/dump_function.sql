-- Describes one function: its definition, who may call it, its comment. Called by dump_schema().

create or replace function svc_private.dump_function(target oid)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
begin
  return query select '';
  return query
    select format('-- Function %s owner %s', target::regprocedure, pg_catalog.pg_get_userbyid(p.proowner))
      from pg_catalog.pg_proc p where p.oid = target;
  return query select rtrim(pg_catalog.pg_get_functiondef(target), E'\n');
  return query
    select format('grant execute to %s', string_agg(svc_private.role_name(a.grantee), ', '
             order by svc_private.role_name(a.grantee)))
      from pg_catalog.pg_proc p, pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
     where p.oid = target and a.grantee <> p.proowner
    having count(*) > 0;
  return query
    select format('comment: %s', d.description)
      from pg_catalog.pg_description d
     where d.classoid = 'pg_catalog.pg_proc'::regclass and d.objoid = target;
end
$$;

comment on function svc_private.dump_function(oid) is 'One function as text, for dump_schema().';
