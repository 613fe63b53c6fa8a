-- Entries of audited tables for `svc audit`, newest first, of removed rows and of tables that are no longer audited, too. null
-- leaves a condition out. What an administrator did as a user is found by the ids of both, and `via` names the administrator.
-- `before` is the last entry of the page before.
--
-- Planned for each call: the entries of a row, and those before another one, are found by an index.

create or replace function svc_private.list_history(
  only_table text, only_row text, only_actor text, since timestamptz, before bigint, most integer
)
returns table (
  id bigint, at timestamptz, relation text, row_id text, operation text, actor text, login text, via text, request text,
  trace text, changed jsonb
)
language plpgsql
stable
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  return query
  select e.id, e.at, t.name, e.row_id, e.operation, e.actor, e.login,
         nullif(concat_ws(', ', e.via, 'visit of ' || e.impersonated_by), ''), e.request, e.trace, e.changed
    from svc_private.history_entries e
    join svc_private.history_tables t on t.id = e.table_id
   where (only_table is null or t.name = only_table) and (only_row is null or e.row_id = only_row)
     and (only_actor is null or only_actor in (e.actor, e.impersonated_by))
     and (since is null or e.at >= since) and (before is null or e.id < before)
   order by e.id desc
   limit most;
end
$$;

comment on function svc_private.list_history(text, text, text, timestamptz, bigint, integer) is
  'Entries of audited tables, newest first, for operators.';
