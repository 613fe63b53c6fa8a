-- Deliveries of different rows are sent to an endpoint at the same time (sql/webhooks/claim_deliveries.sql), a few of them. What workers
-- of the version before are sending stays theirs. The column delivery is for that version, should it take the place of this one again.

alter table svc_private.webhook_leases
  add column sending uuid[] not null default '{}',
  add column places smallint not null default 1;

update svc_private.webhook_leases set sending = array[delivery], busy_until = now(), delivery = null where delivery is not null;

comment on table svc_private.webhook_leases is
  'Until when an endpoint gets nothing, or when it got something last; what is sent to it, and how much may be at the same time.';
comment on column svc_private.webhook_leases.delivery is 'Of earlier versions.';
comment on column svc_private.webhook_leases.sending is
  'Deliveries that workers are sending, each of another row. One whose due_at has passed is of a worker that was killed.';
comment on column svc_private.webhook_leases.places is
  'How many may be sent at the same time: one after a failure, one more after each answer.';
