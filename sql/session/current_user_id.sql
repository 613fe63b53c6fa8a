-- The user of the current transaction, or null. Every owner policy calls this function.
--
-- The setting svc.user_id is the whole identity: the user's id, and behind tabs one of these:
--
--   visit and the id of the administrator who acts as the user (svc.current_actor())
--   key and the scopes of the API key (svc.has_scope())
--
-- One value, so that no statement can set or leave one part without the others. It is local to the transaction, and
-- src/postgres/ writes it before the role changes.
--
-- Wrap the call in a scalar sub-select, `(select svc.current_user_id())`: then it is evaluated once per statement and not
-- per row. No `set search_path` here, because it would prevent inlining. All names inside are qualified instead.

create or replace function svc.current_user_id()
returns text
language sql
stable
parallel safe
as $$
  -- A custom setting that was set once in a session reads '' afterwards, not null.
  select nullif(pg_catalog.split_part(pg_catalog.current_setting('svc.user_id', true), E'\t', 1), '')
$$;

comment on function svc.current_user_id() is
  'Id of the transaction''s user; null if anonymous. Use as (select svc.current_user_id()) in policies. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';

grant execute on function svc.current_user_id() to svc_anonymous, svc_authenticated, svc_system;
