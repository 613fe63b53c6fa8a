-- The statements of this database that have cost the most time since the last reset of pg_stat_statements: for `svc db
-- slow`, and for psql as svc_system.
--
-- The operator installs the extension: a library that the server loads when it starts, and `create extension`. It may
-- be in any schema, hence the look-up. Look at total_ms first: a fast statement that runs a million times may cost more
-- than a slow one.

create or replace function svc_private.slow_statements(most integer)
returns table (
  calls bigint, total_ms float8, mean_ms float8, longest_ms float8, rows_each float8, hit_percent float8, role text,
  statement text
)
language plpgsql
volatile
set search_path = ''
as $$
declare
  place constant text := (
    select quote_ident(n.nspname) from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
     where e.extname = 'pg_stat_statements');
begin
  if place is null then
    raise exception 'pg_stat_statements is not installed in this database'
      using errcode = '55000',
            hint = 'Add pg_stat_statements to shared_preload_libraries, restart the server, then run: create extension pg_stat_statements schema extensions; (managed hosts have a switch)';
  end if;
  return query execute format($query$
    select s.calls, round(s.total_exec_time::numeric, 1)::float8, round(s.mean_exec_time::numeric, 3)::float8,
           round(s.max_exec_time::numeric, 1)::float8, round(s.rows::numeric / greatest(s.calls, 1), 1)::float8,
           round(100.0 * s.shared_blks_hit / nullif(s.shared_blks_hit + s.shared_blks_read, 0), 1)::float8,
           s.userid::regrole::text, svc_private.statement_text(s.query)
      from %s.pg_stat_statements s
     where s.dbid = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
     order by s.total_exec_time desc
     limit $1 $query$, place) using most;
end
$$;

comment on function svc_private.slow_statements(integer) is
  'Statements by their total time in milliseconds, without literal values. Needs pg_stat_statements.';
