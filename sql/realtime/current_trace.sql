-- The trace that this transaction is marked with (svc.carry_trace), for work that it enqueues; null when there is none.
-- A custom setting that was set in an earlier transaction of the connection is '' and not null. Inlined, so no search_path.

create or replace function svc_private.current_trace()
returns text
language sql
stable
as $$
  select nullif(pg_catalog.current_setting('svc.traceparent', true), '')
$$;

comment on function svc_private.current_trace() is
  'The W3C traceparent of this transaction, or null. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';
