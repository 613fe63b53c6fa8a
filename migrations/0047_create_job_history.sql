-- The jobs that finished lately. The queue removes a job when it is done; this table keeps what is known of it, without
-- its arguments. Workers add rows once a second (sql/jobs/keep_finished_jobs.sql).

create table svc.job_history (
  entry bigint generated always as identity primary key,
  job bigint not null,
  kind text not null,
  name text not null,
  outcome text not null check (outcome in ('done', 'dead')),
  attempts integer not null,
  run_at timestamptz not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  duration interval not null generated always as (finished_at - started_at) stored
);

alter table svc.job_history enable row level security;

comment on table svc.job_history is
  'Jobs that finished lately, without their arguments. Bounded by limits.finishedJobs and limits.finishedJobDays.';
comment on column svc.job_history.entry is 'The order in which workers reported the jobs.';
comment on column svc.job_history.job is
  'The id that the job had in the queue. It occurs again when somebody retried the dead job.';
comment on column svc.job_history.kind is 'The kind of job: procedure, workflow, transcribe or sweep-storage.';
comment on column svc.job_history.name is 'The internal procedure; the kind for other jobs.';
comment on column svc.job_history.outcome is
  'done, or dead: its last attempt failed. A dead job is still in the queue, with its error.';
comment on column svc.job_history.attempts is 'How many attempts it took, the last one included.';
comment on column svc.job_history.run_at is 'When the last attempt was due.';
comment on column svc.job_history.started_at is 'When a worker claimed the last attempt.';
comment on column svc.job_history.finished_at is 'When the last attempt ended.';
comment on column svc.job_history.duration is 'How long the last attempt took.';

-- The default privileges of sql/schemas.sql would let the system's handlers change rows, too.
revoke all on svc.job_history from svc_system;
grant select on svc.job_history to svc_system;
