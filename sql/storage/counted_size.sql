-- The bytes that a file counts for quotas: at least 4 KiB, the block size of a disk. Otherwise empty files would have no limit.
-- Called by svc_private.count_stored_bytes(), svc_private.recount_stored_bytes() and svc_private.reserve_upload().
--
-- No SET clause, so that PostgreSQL inlines it.

create or replace function svc_private.counted_size(size bigint)
returns bigint
language sql
immutable
as $$
  select greatest(size, 4096)
$$;

comment on function svc_private.counted_size(bigint) is
  'The bytes that a file of this size counts for quotas. '
  'lint:allow function_without_search_path: SET would prevent inlining; it calls only built-in functions.';
