-- The platform's part of this database as text, in an order that does not depend on the order of creation. `npm run
-- db:dump` writes it to sql/schema.dump.sql; CI compares the file with a fresh install and with every upgrade.
--
-- Left out on purpose: the application's objects, versions of extensions, the texts of views (most are in lint/). Of
-- the queue only its revision is included: the library defines its objects.

create or replace function svc_private.dump_schema()
returns setof text
language plpgsql
stable
set search_path = ''
as $$
begin
  -- Tested first: a table that is not there cannot be named in the query below.
  if to_regclass('graphile_worker.migrations') is not null then
    return query select format('queue at revision %s', max(m.id)) from graphile_worker.migrations m;
  end if;
  return query
    with described as (
      -- How many arguments PostgreSQL's own functions take differs between its versions.
      select distinct regexp_replace(f.object, '^(PostgreSQL''s own \w+)\(.*', '\1') as object, f.kind, f.part, f.definition, f.place
        from svc_private.list_facts() f
       where f.kind not in ('query', 'version')
         and (f.object ~ '^(role|database|publication|default privileges|PostgreSQL)'
              or f.object ~ '^\S+ (svc|svc_hidden|svc_private|svc_crud|auth|graphile_worker|extensions|public)$'
              or f.object ~ '^(materialized )?\S+ (svc|svc_hidden|svc_private|auth)\.')
    ), fact as (
      select f.*, row_number() over (partition by f.object order by array_position(
               '{itself,range,definition,column,constraint,index,trigger,statistics,policy,member of,setting,grant,execute,usage,comment}',
               f.kind), f.place, f.part) as n
        from described f
    )
    select line
      from fact f
     cross join lateral (values
       (1, case when f.n = 1 then '' end),
       (2, case when f.n = 1 then concat_ws(': ', '-- ' || f.object, case when f.kind = 'itself' then f.definition end) end),
       (3, case f.kind when 'itself' then null
                       when 'definition' then f.definition
                       when 'grant' then format('grant %s to %s', f.definition, f.part)
                       else concat_ws(': ', concat_ws(' ', f.kind, nullif(f.part, '')), nullif(f.definition, '')) end)
     ) as printed (part, line)
     where line is not null
     order by array_position('{role,database,schema,default,PostgreSQL''s,publication,type,sequence,table,view,function}',
                split_part(f.object, ' ', 1)), f.object, f.n, printed.part;
end
$$;

comment on function svc_private.dump_schema() is 'The platform''s schema as text, for sql/schema.dump.sql.';
