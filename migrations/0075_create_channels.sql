-- Messages of durable channels (sql/realtime/store_messages.sql).

create table svc.channels (
  id bigint primary key generated always as identity,
  name text not null,
  topic text not null,
  digest bytea not null unique,
  began bigint not null,
  last bigint not null,
  dropped bigint not null
);

alter table svc.channels enable row level security;

comment on table svc.channels is
  'Durable channels that have messages. Who adds a message locks the row until its commit, so the numbers of messages are in the '
  'order of commits.';
comment on column svc.channels.name is 'The name of the definition.';
comment on column svc.channels.topic is 'The name with the input, as rooms.talk::{"id":7}.';
comment on column svc.channels.digest is 'SHA-256 of the topic, which may be too long for an index.';
comment on column svc.channels.began is
  'The number before the first message: milliseconds since 1970 when the row was made, so that a row made anew repeats no number.';
comment on column svc.channels.last is 'The number of the newest message.';
comment on column svc.channels.dropped is 'Messages up to this number were removed, by number or age. Until then it is `began`.';

create table svc.channel_messages (
  channel_id bigint not null references svc.channels (id),
  id bigint not null,
  message text not null,
  body text not null,
  user_id text references auth."user" (id) on delete cascade,
  visitor text,
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (channel_id, id)
);

create index channel_messages_user on svc.channel_messages (user_id);
create index channel_messages_expires on svc.channel_messages (expires_at);

alter table svc.channel_messages enable row level security;

comment on table svc.channel_messages is
  'Messages of durable channels, as long as the definition says. They go with the account of the user who sent them.';
comment on column svc.channel_messages.id is 'Of the message within its channel, in the order of commits.';
comment on column svc.channel_messages.message is 'The name of the message.';
comment on column svc.channel_messages.body is 'What was sent, encoded, as JSON. Text, because jsonb refuses some strings that JSON has.';
comment on column svc.channel_messages.user_id is 'The member who sent it. Null: a handler, or a visitor without a session.';
comment on column svc.channel_messages.visitor is 'The id of a visitor without a session.';

-- The default privileges of sql/schemas.sql would let the system's handlers write messages that nobody is sent.
revoke all on svc.channels, svc.channel_messages from svc_system;
grant select on svc.channels to svc_system;
grant select, delete on svc.channel_messages to svc_system;
