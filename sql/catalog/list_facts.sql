-- Describes this database without its data. Each row is one fact: the object, the kind of fact, the part of the object,
-- and its definition. Facts of two databases can be compared: `svc db drift` does so, and the upgrade tests and CI do
-- by dump_schema().
--
-- Our own queries instead of pg_dump: its output differs between versions, and an older pg_dump refuses a newer server.

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

comment on function svc_private.list_facts() is 'This database without its data: one comparable fact per row.';
