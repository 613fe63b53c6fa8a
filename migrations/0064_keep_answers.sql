-- The answers of mutations that were sent with an Idempotency-Key. A call that is sent again gets the first one's answer and
-- does not run (sql/call/).
create table svc_private.kept_answers (
  user_id text not null references auth."user" (id) on delete cascade,
  key text not null,
  call bytea not null,
  answers text[],
  kept_at timestamptz not null default clock_timestamp(),
  primary key (user_id, key)
);

create index kept_answers_kept_at on svc_private.kept_answers (kept_at);

alter table svc_private.kept_answers enable row level security;

comment on table svc_private.kept_answers is
  'Answers of mutations that were sent with an Idempotency-Key, for a day. A row commits with what its call wrote.';
comment on column svc_private.kept_answers.user_id is 'Who sent the call. The keys of two users have nothing to do with each other.';
comment on column svc_private.kept_answers.key is 'The key, which the client chose.';
comment on column svc_private.kept_answers.call is 'SHA-256 of the names and arguments that were called.';
comment on column svc_private.kept_answers.answers is 'The answer of each call. Null: together they were larger than 1 MiB.';
comment on column svc_private.kept_answers.kept_at is 'When the call began.';

revoke all on svc_private.kept_answers from svc_system;
