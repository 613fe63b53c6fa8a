-- The bucket that a file counts for. Called by svc_private.count_stored_bytes(), svc_private.recount_stored_bytes() and
-- svc_private.reserve_upload().
--
-- No SET clause, so that PostgreSQL inlines it.

create or replace function svc_private.storage_bucket(user_id text, by_system boolean)
returns text
language sql
immutable
as $$
  select case when by_system then 'system' else coalesce('user ' || user_id, 'anonymous') end
$$;

comment on function svc_private.storage_bucket(text, boolean) is
  'The bucket of a file in svc_private.storage_usage: its owner''s, the system''s, or that of all anonymous callers. '
  'lint:allow function_without_search_path: SET would prevent inlining; it calls only built-in functions.';
