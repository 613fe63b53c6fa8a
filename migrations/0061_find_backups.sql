-- Backups and trial restores are lines in svc.operator_acts. svc_private.backup_state() looks for the latest of each.
create index operator_acts_backups on svc.operator_acts (act, id) where act in ('db_backup', 'db_verify');

comment on column svc.operator_acts.act is
  'The name of the SQL function, such as act_retry_job, or of the command: db_backup, and db_verify for a trial restore.';
