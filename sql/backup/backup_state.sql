-- When the database was backed up last, and when a backup was restored on trial: for metrics (sql/ops/service_state.sql)
-- and `svc doctor`. Null: never, or by other means than `svc db backup` and `svc db verify --deep`.

create or replace function svc_private.backup_state(
  out taken_at timestamptz,  -- the moment that the last backup is of
  out tried_at timestamptz
)
language sql
stable
set search_path = ''
as $$
  select (select (a.arguments ->> 'takenAt')::timestamptz from svc.operator_acts a where a.act = 'db_backup' order by a.id desc limit 1),
         (select a.at from svc.operator_acts a where a.act = 'db_verify' order by a.id desc limit 1)
$$;

comment on function svc_private.backup_state() is 'When the database was backed up last, and when a backup was restored on trial.';
