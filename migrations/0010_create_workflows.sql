-- Durable workflows: a run, what it has done so far, and the events that were sent to it. Changed only by the functions in
-- sql/workflows/; who may look: sql/policies/svc.workflow_*.sql. The life cycle: docs/explanation/workflows.md.
--
-- Steps and events repeat the user of their run, so that a policy looks at one row and joins nothing.

create table svc.workflow_runs (
  id uuid primary key default gen_random_uuid(),
  name text not null check (name <> ''),
  version integer not null check (version > 0),
  args json not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
  wait_marker text,
  result json,
  error json,
  error_detail text,
  user_id text references auth."user" (id) on delete cascade,
  is_system boolean not null default false,
  idempotency_key text,
  fence bigint not null default 0,
  attempts integer not null default 0,
  claims integer not null default 0,
  max_running integer check (max_running > 0),
  max_duration interval,
  deadline timestamptz,
  wake_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  check (not is_system or user_id is null),
  check (status = 'pending' or wait_marker is null)
);

create unique index workflow_runs_idempotency on svc.workflow_runs (name, idempotency_key, user_id) nulls not distinct
  where idempotency_key is not null;
create index workflow_runs_owner on svc.workflow_runs (user_id, created_at desc, id desc);
create index workflow_runs_recent on svc.workflow_runs (created_at desc, id desc);
create index workflow_runs_active on svc.workflow_runs (name, status) where status in ('pending', 'running');

comment on table svc.workflow_runs is 'Runs of workflows: one row from the start to the end and after it.';
comment on column svc.workflow_runs.version is 'Of the code that started it; no other version goes on with it.';
comment on column svc.workflow_runs.args is 'As procedure arguments travel: {"json": …, "meta": […]}. Likewise the results.';
comment on column svc.workflow_runs.wait_marker is
  'Why a pending run is not queued: wait:EVENT, sleep#POSITION, retry (after an error), slot (others of its name run).';
comment on column svc.workflow_runs.error is 'What its user may learn: {"code", "message", "step"?}.';
comment on column svc.workflow_runs.error_detail is 'What operators may learn; not granted to request roles.';
comment on column svc.workflow_runs.user_id is 'As whom it runs; null: nobody, or the system.';
comment on column svc.workflow_runs.fence is 'Counts claims for ever. A worker writes with the number that its claim got.';
comment on column svc.workflow_runs.attempts is 'Errors since the last checkpoint.';
comment on column svc.workflow_runs.claims is 'Claims since the last checkpoint that ended in no answer: its workers died.';
comment on column svc.workflow_runs.max_running is 'How many runs of this name may run at a time; null: any number.';
comment on column svc.workflow_runs.wake_at is 'When a waiting run is looked at again at the latest.';

create table svc.workflow_steps (
  seq bigint generated always as identity primary key,
  run_id uuid not null references svc.workflow_runs (id) on delete cascade,
  position text not null,
  kind text not null check (kind in ('step', 'wait', 'sleep')),
  name text not null,
  is_done boolean not null,
  result json,
  error json,
  timed_out boolean not null default false,
  user_id text references auth."user" (id) on delete cascade,
  due_at timestamptz,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  unique (run_id, position)
);

create index workflow_steps_owner on svc.workflow_steps (user_id);

comment on table svc.workflow_steps is 'Checkpoints of runs: steps that are done, waits and sleeps that have begun or ended.';
comment on column svc.workflow_steps.seq is 'In the order in which they were recorded.';
comment on column svc.workflow_steps.position is
  'Where in the handler: "0", "1", …; in a branch of a parallel at "2": "2.BRANCH.0", "2.BRANCH.1", ….';
comment on column svc.workflow_steps.error is 'Of a step that failed for good: {"code", "message"}, thrown to the handler again at every replay.';
comment on column svc.workflow_steps.due_at is 'When a sleep ends, or a wait gives up; null: never.';

create table svc.workflow_events (
  id bigint generated always as identity primary key,
  run_id uuid not null references svc.workflow_runs (id) on delete cascade,
  name text not null,
  payload json not null,
  user_id text references auth."user" (id) on delete cascade,
  taken_by text,
  created_at timestamptz not null default clock_timestamp()
);

create index workflow_events_free on svc.workflow_events (run_id, name, id) where taken_by is null;
create index workflow_events_run on svc.workflow_events (run_id);
create index workflow_events_owner on svc.workflow_events (user_id);

comment on table svc.workflow_events is 'What was signalled to runs. Each event ends at most one wait.';
comment on column svc.workflow_events.taken_by is 'Position of the wait that it ended; null: none so far.';
