-- How often callers used what an application limits with context.rateLimit(). svc_private.count_call() counts.
--
-- Unlogged, as auth.attempt: the counts are worth nothing after their window. After a crash, and on a standby that takes over,
-- they begin at nothing. Fillfactor leaves room for updates in place.

create unlogged table svc_private.call_counts (
  name text not null,
  seconds integer not null,
  subject text not null,
  count integer not null,
  ends_at timestamptz not null,
  primary key (name, seconds, subject)
) with (fillfactor = 70);

create index call_counts_ends_at on svc_private.call_counts (ends_at);

comment on table svc_private.call_counts is
  'Calls in a window of time that begins with the first one. '
  'lint:allow unlogged_table: a crash may empty it without harm.';
comment on column svc_private.call_counts.name is 'The name that the application gave to its limit.';
comment on column svc_private.call_counts.seconds is
  'How long a window lasts. Two limits of one name and of different windows are counted apart.';
comment on column svc_private.call_counts.subject is
  'Whose calls: user: and an id; address: and an IPv4 address or the /64 of an IPv6 address; by: and the hash of what the application named.';
comment on column svc_private.call_counts.count is 'Calls since the window began; at most as many as the limit allows.';
comment on column svc_private.call_counts.ends_at is 'From when on the count is nothing again, and the row may be removed.';
