-- Operators pause crons: their times pass without a job (sql/jobs/claim_cron.sql).

alter table svc_private.crons add column paused_at timestamptz;

comment on column svc_private.crons.paused_at is 'Since when an operator has paused it; null: it runs.';
comment on column svc_private.crons.last_job is
  'The job of that time. Gone from the queue once it is done; null when the cron was paused then.';

-- It returns the new column; sql/jobs/list_crons.sql defines it anew.
drop function if exists svc_private.list_crons();
