-- API keys: what a user's own programs send instead of a session. sql/auth/find_api_keys.sql looks them up.

create table auth.api_key (
  id text primary key default gen_random_uuid()::text,
  user_id text not null references auth."user" (id) on delete cascade,
  name text not null check (length(name) between 1 and 100),
  start text not null check (length(start) <= 24),
  hash bytea not null unique check (octet_length(hash) = 32),
  scopes text[] not null check (cardinality(scopes) > 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  last_used_at timestamptz
);

create index api_key_user_id on auth.api_key (user_id);

alter table auth.api_key enable row level security;

comment on table auth.api_key is 'Keys of users for their own programs. A deleted row is a revoked key.';
comment on column auth.api_key.start is 'The prefix and the first characters of the key, for lists.';
comment on column auth.api_key.hash is
  'SHA-256 of the whole key. It has 256 random bits, so nobody finds it by its hash, and the row lets nobody in.';
comment on column auth.api_key.scopes is 'What the key may do: svc.has_scope() compares it. "*" is everything.';
comment on column auth.api_key.last_used_at is 'Written at most once in ten minutes; null before the first use.';
