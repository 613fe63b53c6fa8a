-- Users, sessions, accounts, one-time values and signing keys: what better-auth 1.7 needs, in snake_case.
-- src/auth/library.ts maps its camelCase names to these columns. Who may touch the tables: sql/policies/auth.*.sql.
--
-- Made from the library's own generator (getMigrations, core and jwt plugin), then written by hand. Table names stay
-- the library's, singular. Ids are text because the library makes them, 32 letters and digits, and the application's
-- user_id columns hold the same text.

create table auth."user" (
  id text primary key,
  name text not null,
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  image text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on table auth."user" is
  'People who can sign in. Additional fields of defineAuth() are further columns, added by the application''s migrations.';
comment on column auth."user".email is
  'Lower case, so that unique means unique to a person. Two sign-ups at once: the constraint lets one through.';
comment on column auth."user".image is 'URL of a picture, as a social provider reports it.';

-- No index on expires_at: the column moves when a session slides, and with an index on it no such update could be HOT.
-- Removing expired rows reads the whole table, now and then.
create table auth.session (
  id text primary key,
  user_id text not null references auth."user" (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index session_user_id on auth.session (user_id);

comment on table auth.session is 'Signed-in devices. A deleted row is a signed-out device.';
comment on column auth.session.id is 'Claim "sid" of the JWTs that were issued from this session.';
comment on column auth.session.token is
  'What the client holds, without its signature: the row alone, as in a stolen backup, does not let anybody in.';
comment on column auth.session.expires_at is 'Seven days after the last use, moved at most once a day.';
comment on column auth.session.ip_address is 'Where it was created. IPv6 is kept as its /64 network.';

create table auth.account (
  id text primary key,
  user_id text not null references auth."user" (id) on delete cascade,
  provider_id text not null,
  account_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The library looks accounts up by this pair and expects one. It does not ask for the constraint; two callbacks of
  -- the same sign-in at once would otherwise leave two rows.
  unique (provider_id, account_id)
);

create index account_user_id on auth.account (user_id);

comment on table auth.account is 'Ways in: one row per user and provider, the password being the provider "credential".';
comment on column auth.account.account_id is 'The user''s id at the provider; for "credential" the user''s id here.';
comment on column auth.account.password is 'scrypt (N=16384, r=16, p=1) as salt:key in hex. Null for social providers.';

create table auth.verification (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index verification_identifier on auth.verification (identifier);

comment on table auth.verification is 'One-time values: e-mail verification, password reset, OAuth state.';
comment on column auth.verification.identifier is 'What the value is for, and whose; how the library finds it.';

create table auth.jwks (
  id text primary key,
  public_key text not null,
  private_key text not null,
  alg text,
  crv text,
  created_at timestamptz not null,
  expires_at timestamptz
);

comment on table auth.jwks is
  'Keys that sign JWTs, written through auth.add_key(). GET /api/auth/jwks publishes the public halves.';
comment on column auth.jwks.id is 'Header "kid" of the tokens it signed.';
comment on column auth.jwks.public_key is 'JWK as JSON text.';
comment on column auth.jwks.private_key is 'JWK, encrypted under AUTHLIB_SECRET; the envelope names which of its list.';
comment on column auth.jwks.expires_at is 'Until when its signatures are believed; null for the key in use.';
