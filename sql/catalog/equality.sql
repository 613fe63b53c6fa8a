-- The operator by which values of a type are equal, for SQL of functions without a search path: that of a type of an extension,
-- such as ltree, is in the schema of the extension. Without it an index over citext would not be used either. Part of
-- svc_private.history_target(), svc_private.endpoint_key(), svc_private.webhook_condition(), svc_private.webhook_statement(),
-- svc_private.is_owned_by(), svc_private.index_rows_together(), svc_private.key_condition() and svc_private.studio_keys().

create or replace function svc_private.equality(type oid)
returns text
language sql
stable
set search_path = ''
as $$
  -- Types without operators of their own use those of others: varchar, enums, arrays, composite types.
  with recursive under (type) as ( -- a domain may be over another one
    select equality.type
    union all
    select t.typbasetype from under u join pg_catalog.pg_type t on t.oid = u.type and t.typtype = 'd'
  )
  select coalesce((
    select format('operator(%I.%s)', n.nspname, o.oprname)
      from under u
      join pg_catalog.pg_type t on t.oid = u.type
      join pg_catalog.pg_opclass c on c.opcintype = t.oid and c.opcdefault
      join pg_catalog.pg_am m on m.oid = c.opcmethod and m.amname = 'btree'
      join pg_catalog.pg_amop a on a.amopfamily = c.opcfamily and a.amopstrategy = 3
       and a.amoplefttype = c.opcintype and a.amoprighttype = c.opcintype
      join pg_catalog.pg_operator o on o.oid = a.amopopr
      join pg_catalog.pg_namespace n on n.oid = o.oprnamespace
     where t.typtype <> 'd'), 'operator(pg_catalog.=)')
$$;

comment on function svc_private.equality(oid) is 'The operator by which values of a type are equal, as SQL.';

-- svc_private.change_row() also runs as svc_reader_anonymous.
grant execute on function svc_private.equality(oid) to svc_reader_anonymous, svc_reader_authenticated;
