-- What AI calls cost, who made them, and the transcriptions that run as jobs.
-- sql/ai/ reserves, settles and releases; who may read: sql/policies/svc.ai_*.sql.

create table svc_private.ai_prices (
  model text primary key,
  input_per_1000 numeric not null check (input_per_1000 >= 0),
  output_per_1000 numeric not null check (output_per_1000 >= 0),
  per_call numeric not null default 0 check (per_call >= 0)
);

comment on table svc_private.ai_prices is
  'Credits by model. The row * is for models without one of their own; models that run here (local-…) cost nothing.';
comment on column svc_private.ai_prices.input_per_1000 is 'Credits for 1,000 tokens that go in.';
comment on column svc_private.ai_prices.output_per_1000 is 'Credits for 1,000 tokens that come out.';
comment on column svc_private.ai_prices.per_call is 'Credits for the call itself: images, audio, pages.';

insert into svc_private.ai_prices (model, input_per_1000, output_per_1000, per_call) values ('*', 1, 3, 0);

create table svc.ai_ledger (
  id bigint generated always as identity primary key,
  user_id text references auth."user" (id) on delete set null,
  operation text not null,
  model text not null,
  state text not null default 'reserved' check (state in ('reserved', 'settled', 'released')),
  reserved numeric not null check (reserved >= 0),
  charged numeric check (charged >= 0),
  input_tokens integer,
  output_tokens integer,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  settled_at timestamptz
);

create index ai_ledger_user_id_created_at on svc.ai_ledger (user_id, created_at desc);

comment on table svc.ai_ledger is
  'Every paid call: what was reserved for it before, and what it cost. A reservation whose process died counts until it expires.';
comment on column svc.ai_ledger.user_id is 'Who called. Null: the system, or a user who is gone.';
comment on column svc.ai_ledger.operation is 'Such as chat, embed, document.convert.';
comment on column svc.ai_ledger.charged is 'In credits, once settled.';

create table svc.ai_transcriptions (
  id uuid primary key default gen_random_uuid(),
  user_id text references auth."user" (id) on delete cascade,
  storage_id uuid not null references svc.storage_objects (id) on delete cascade,
  model text not null,
  status text not null default 'pending' check (status in ('pending', 'completed', 'failed')),
  text text,
  error text,
  credits_charged numeric,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);

create index ai_transcriptions_user_id_created_at on svc.ai_transcriptions (user_id, created_at desc);
create index ai_transcriptions_storage_id on svc.ai_transcriptions (storage_id);

comment on table svc.ai_transcriptions is 'Speech to be turned into text, by jobs of the kind transcribe.';
comment on column svc.ai_transcriptions.error is 'Why it failed, in a sentence for its owner.';
