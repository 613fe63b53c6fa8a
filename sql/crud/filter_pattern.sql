-- The condition of `like` and `ilike`, or null. Called by svc_hidden.filter_condition().
--
-- Text columns and strings only. PostgreSQL rejects a pattern that ends in the escape character, and one with so many
-- wildcards that matching it exhausts the stack: more than 1,000 characters are an error here.

create or replace function svc_hidden.filter_pattern(kind text, op text, value jsonb, subject text)
returns text
language plpgsql
immutable
as $$
declare
  pattern constant text := value #>> '{}';
begin
  if kind <> 'text' or jsonb_typeof(value) <> 'string' then
    return null;
  elsif length(pattern) > 1000 then
    perform svc_hidden.refuse_filter('have a pattern of more than 1,000 characters');
  elsif right(pattern, 1) = '\' and length(substring(pattern from '\\+$')) % 2 = 1 then
    return null;
  end if;
  return svc_hidden.condition_sql(op, subject, quote_literal(pattern), 'text');
end
$$;

comment on function svc_hidden.filter_pattern(text, text, jsonb, text) is
  'Condition of a filter by a pattern. Part of svc_hidden.filter_condition(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_pattern(text, text, jsonb, text)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
