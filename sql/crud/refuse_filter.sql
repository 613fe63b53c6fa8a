-- Refuses filters beyond a limit. Ignored, they would find more rows than were asked for: a list of 1,001 ids all rows of the
-- table. Called by the functions of svc_hidden.filter_sql(); src/postgres/errors.ts reads the detail.

create or replace function svc_hidden.refuse_filter(problem text)
returns void
language plpgsql
stable
as $$
begin
  raise exception '%', problem using errcode = '22023', detail = 'svc:invalid=["filters"]';
end
$$;

comment on function svc_hidden.refuse_filter(text) is
  'Refuses filters beyond a limit. Part of svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers; its text names no function of a schema.';

grant execute on function svc_hidden.refuse_filter(text) to svc_request, svc_anonymous, svc_authenticated, svc_system;
