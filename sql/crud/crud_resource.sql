-- The description of a generated resource, by its prefix: what its list is made of, and what others include of it.
-- Called by svc_hidden.related_rows(), svc_hidden.related_counts() and the filters that follow relations. The prefix comes from the description of
-- another resource, never from a caller.

create or replace function svc_hidden.crud_resource(prefix text)
returns jsonb
language plpgsql
stable
as $$
declare
  resource jsonb;
begin
  -- Generated functions have unquoted names, so PostgreSQL keeps them in lower case. Under a Turkish locale lower() would
  -- make another letter of I.
  execute format('select svc_crud.%I()', lower(prefix || '_resource' collate "C")) into resource;
  return resource;
end
$$;

comment on function svc_hidden.crud_resource(text) is
  'Description of a generated resource by its prefix. Part of svc_hidden.related_rows(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.crud_resource(text) to svc_request, svc_anonymous, svc_authenticated, svc_system;
