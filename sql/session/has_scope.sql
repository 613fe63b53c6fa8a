-- Whether the caller may do what a scope names. Policies of `scoped()` call it (src/crud/scoped.ts).
--
--   user, visit, job, system   yes: scopes limit keys alone
--   key                        if it has the scope, or "*"
--   anything else              no: callers without an account, and actors that this version does not know
--
-- has_scope('*') is true only for a key with "*": so it closes a table to all other keys. A scope that no key has, such as a
-- misspelt one, is never there. The service refuses to start when a policy asks for one that is not declared
-- (sql/auth/list_scope_mistakes.sql).
--
-- Wrap the call in a scalar sub-select, as svc.current_user_id(). Inlined, so no search_path.

create or replace function svc.has_scope(scope text)
returns boolean
language sql
stable
parallel safe
as $$
  select case pg_catalog.split_part(coalesce(pg_catalog.current_setting('svc.user_id', true), ''), E'\t', 2)
    when '' then coalesce(pg_catalog.current_setting('svc.user_id', true), '') <> ''
      or pg_catalog.current_setting('role') <> 'svc_anonymous'
    when 'visit' then true
    when 'key' then coalesce(pg_catalog.string_to_array(
      pg_catalog.split_part(pg_catalog.current_setting('svc.user_id', true), E'\t', 3), ' ')
      && array[has_scope.scope, '*'], false)
    else false
  end
$$;

comment on function svc.has_scope(text) is
  'Whether the caller may do what the scope names: always, except by an API key without it, and without an account. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';

grant execute on function svc.has_scope(text) to svc_anonymous, svc_authenticated, svc_system;
