-- The trace that this transaction is marked with (svc.carry_trace), for work that it enqueues; null when there is none.
-- A custom setting that was set in an earlier transaction of the connection is '' and not null.

create or replace function svc_private.current_trace()
returns text
language sql
stable
set search_path = ''
as $$
  select nullif(pg_catalog.current_setting('svc.traceparent', true), '')
$$;

comment on function svc_private.current_trace() is 'The W3C traceparent of this transaction, or null.';
