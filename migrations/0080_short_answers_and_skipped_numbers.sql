-- Of answers that are too large to be kept, what a client needs to go on (sql/call/keep_answers.sql).
alter table svc_private.kept_answers add column short text[];

comment on column svc_private.kept_answers.short is
  'Where the answers are not kept: the short members of each, such as the key of a row.';

-- Numbers of messages that a restored backup does not know (sql/realtime/store_messages.sql).
alter table svc.channels
  add column run text,
  add column skipped int8multirange not null default '{}';

comment on column svc.channels.run is
  'Which start of the server, and which table, has counted `last`. Null: a version of svc that did not note it.';
comment on column svc.channels.skipped is
  'Numbers that no message has here, though clients may have them: a server that was replaced by an older state may have given them out.';
comment on column svc.channels.began is
  'The number before the first message: microseconds since 1970 when the row was made, so that a row made anew repeats no number. '
  'Milliseconds in rows of earlier versions.';
