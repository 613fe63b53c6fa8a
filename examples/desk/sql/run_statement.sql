-- The SQL box of the start page: runs a statement as the caller and shows at most 20 rows.
--
-- The text comes from a person. The function has no rights of its own: it runs with the role and identity of the request, so
-- the policies decide about every row, as for every other call. A loop over EXECUTE takes one statement only: a second one
-- could be SET, which changes the identity.

create or replace function public.run_statement(statement text)
returns json
language plpgsql
set search_path = public, pg_temp
as $$
declare
  body constant text := regexp_replace(statement, '[;\s]+$', '');
  answer json;
begin
  for answer in execute case
    when body ~* '^\s*(insert|update|delete)\M' then format(
      E'with t as (%s\n%s) select json_build_object(''count'', count(*), ''rows'', coalesce(json_agg(t), ''[]'')) from t',
      body, case when body ~* '\mreturning\M' then '' else 'returning *' end)
    else format(
      E'select json_build_object(''count'', count(*), ''rows'', coalesce(json_agg(t), ''[]'')) from (select * from (%s\n) as s limit 20) as t',
      body)
  end loop
    return answer;
  end loop;
end
$$;

comment on function public.run_statement(text) is 'Runs one statement with the rights of the caller.';

revoke execute on function public.run_statement(text) from public;
grant execute on function public.run_statement(text) to svc_authenticated;
