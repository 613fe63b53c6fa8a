-- How often somebody tried something that is limited: passwords, sign-ups, mails, one-time tokens.
-- auth.take_attempt() counts, auth.give_back_attempt() takes back; who may touch the table: sql/policies/auth.attempt.sql.
--
-- Unlogged: the counters are written at every sign-in and are worth nothing after their window, minutes to an hour. After
-- a crash, and on a standby that takes over, they begin at nothing. Fillfactor leaves room for updates in place.

create unlogged table auth.attempt (
  kind text not null,
  subject text not null,
  count integer not null,
  began_at timestamptz not null,
  ends_at timestamptz not null,
  kept_until timestamptz not null,
  primary key (kind, subject)
) with (fillfactor = 70);

create index attempt_kept_until on auth.attempt (kept_until);

comment on table auth.attempt is
  'Attempts in a window of time that begins with the first one. Lost in a crash, which is no loss.';
comment on column auth.attempt.kind is 'The limit in svc.config.ts that it is counted for, such as signInsPerAccount.';
comment on column auth.attempt.subject is
  'Whose attempts: an address (IPv4, or the /64 of IPv6), or the keyed hash of an e-mail address, so that addresses which were only tried are not on file. Hash and @address: a network that the account is known to sign in from, counted by itself.';
comment on column auth.attempt.count is 'Attempts since began_at; for passwords and tokens those that failed, or are not decided.';
comment on column auth.attempt.ends_at is 'From when on the count is nothing again.';
comment on column auth.attempt.kept_until is 'From when on the row may be removed.';
