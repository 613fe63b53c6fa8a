-- Describes this database without its data, a row for each fact: what object it is about, what kind of fact it is, which
-- part of the object, and how that is defined. Facts of two databases can be compared: `svc db drift` does, and so do the
-- upgrade tests and CI, by way of dump_schema().
--
-- Our own queries, and not pg_dump: that differs between versions, and an older pg_dump refuses a newer server.

create or replace function svc_private.list_facts()
returns table (
  object text,      -- such as "table public.tasks"
  kind text,        -- "itself", "column", "policy", "grant", "definition" …
  part text,        -- the column's, policy's or role's name; '' where a kind has one fact only
  definition text,
  place integer     -- the order among facts of the same kind, before the part's name
)
language sql
stable
set search_path = ''
as $$
  select * from svc_private.role_facts()
  union all
  select * from svc_private.database_facts()
  union all
  select * from svc_private.relation_facts()
  union all
  select * from svc_private.routine_facts()
$$;

comment on function svc_private.list_facts() is 'This database without its data, a row for each fact that can be compared.';
