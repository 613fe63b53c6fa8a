-- What webhooks deliver. A trigger adds a row in the transaction that changed the application's row
-- (sql/webhooks/note_delivery.sql); workers send it (src/webhooks/sender.ts).

create table svc.webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  sequence bigint not null generated always as identity,
  webhook text not null,
  source text not null,
  endpoint text not null,
  row_key text not null,
  body text not null,
  state text not null default 'pending' check (state in ('pending', 'sent', 'dead')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  last_status integer,
  last_error text,
  created_at timestamptz not null default now(),
  ended_at timestamptz check ((ended_at is null) = (state = 'pending'))
);

create index webhook_deliveries_due on svc.webhook_deliveries (source, endpoint, due_at, sequence) where state = 'pending';
create index webhook_deliveries_row on svc.webhook_deliveries (source, endpoint, row_key, sequence) where state = 'pending';
create index webhook_deliveries_state on svc.webhook_deliveries (state, ended_at, sequence);

alter table svc.webhook_deliveries enable row level security;

comment on table svc.webhook_deliveries is
  'What webhooks deliver: pending, sent, or dead after its last attempt. Ended ones stay for limits.webhookDays.';
comment on column svc.webhook_deliveries.id is 'The header webhook-id, the same in each attempt.';
comment on column svc.webhook_deliveries.sequence is 'Orders the deliveries of one row: its writers wait for each other.';
comment on column svc.webhook_deliveries.webhook is 'The name of the webhook.';
comment on column svc.webhook_deliveries.source is 'Where the URL is read when it is sent: env, or the table of the endpoint.';
comment on column svc.webhook_deliveries.endpoint is 'The variable in the environment, or the key of the row.';
comment on column svc.webhook_deliveries.row_key is 'The table and the key of the changed row.';
comment on column svc.webhook_deliveries.body is 'The JSON text that is signed and sent.';
comment on column svc.webhook_deliveries.due_at is 'When the next attempt may begin. While one runs: when its lease ends.';
comment on column svc.webhook_deliveries.last_status is 'The HTTP status of the last answer; null without one.';
comment on column svc.webhook_deliveries.ended_at is 'Since when it is sent or dead.';

create table svc_private.webhook_leases (
  source text not null,
  endpoint text not null,
  delivery uuid,
  busy_until timestamptz not null,
  primary key (source, endpoint)
);

alter table svc_private.webhook_leases enable row level security;

comment on table svc_private.webhook_leases is
  'Until when a worker sends to an endpoint, or when one did last: one delivery at a time, to each endpoint in turn.';
comment on column svc_private.webhook_leases.delivery is 'What the worker sends; only this attempt may end the lease.';

-- The default privileges of sql/schemas.sql would let the system's handlers change rows, too.
revoke all on svc.webhook_deliveries, svc_private.webhook_leases from svc_system;
grant select on svc.webhook_deliveries to svc_system;
