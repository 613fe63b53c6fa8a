-- Entries of audited tables for Studio, newest first, also of removed rows and of former tables: who, when, and by which way, and
-- the names of the changed columns. Values are not among them: svc.row_history() gives them to Studio as a user who sees the row.
--
-- null leaves a condition out. `before` is the last entry of the page before. Planned for each call, as svc_private.list_history().

create or replace function svc_private.studio_audit(only_table text, only_row text, before bigint, most integer)
returns table (
  id bigint, at timestamptz, relation text, audited boolean, row_id text, operation text, actor text, login text, via text,
  request text, columns text[]
)
language plpgsql
stable
security definer
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
  select e.id, e.at, coalesce(c.oid::regclass::text, t.name), c.oid is not null, e.row_id, e.operation, e.actor, e.login,
         nullif(concat_ws(', ', e.via, 'visit of ' || e.impersonated_by), ''), e.request,
         array(select jsonb_object_keys(e.changed))
    from svc_private.history_entries e
    join svc_private.history_tables t on t.id = e.table_id
    left join pg_catalog.pg_class c on c.oid = t.relation  -- it may have been renamed, or dropped
   where (only_table is null or t.name = only_table or t.relation = to_regclass(only_table)::oid)
     and (only_row is null or e.row_id = only_row) and (before is null or e.id < before)
   order by e.id desc
   limit most;
end
$$;

comment on function svc_private.studio_audit(text, text, bigint, integer) is
  'Entries of audited tables without their values, newest first. Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_audit(text, text, bigint, integer) to svc_studio_read;
