-- When each cron ran last. Workers register theirs when they begin (svc_private.register_cron) and claim its times, each of
-- which exactly one of them gets (svc_private.claim_cron).

create table svc_private.crons (
  name text primary key,
  schedule text not null,
  anchor timestamptz not null,
  last_slot timestamptz not null,
  last_job bigint
);

alter table svc_private.crons enable row level security;

comment on table svc_private.crons is 'Crons, each with the latest of its times that a worker has claimed.';
comment on column svc_private.crons.schedule is 'The schedule as text. Another one begins anew: what it missed before is not caught up.';
comment on column svc_private.crons.anchor is 'From when on intervals are counted.';
comment on column svc_private.crons.last_slot is 'The latest time that was claimed; at first when the cron was registered.';
comment on column svc_private.crons.last_job is 'The job of that time. Gone from the queue once it is done.';
