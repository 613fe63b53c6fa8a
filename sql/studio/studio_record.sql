-- One row past every policy, as the text of its row type: the expressions of the policies are evaluated on this copy as the
-- user (src/postgres/row-access.ts). Studio sends no value of it to the page.
--
-- Not as JSON: jsonb refuses some values of json, and the null of JSON would become the null of SQL.

create or replace function svc_private.studio_record(one_table text, key text[])
returns text
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  condition text;
  found_row text;
begin
  select string_agg(svc_private.key_condition(c.name, c.type, format('($1)[%s]', c.key_place)), ' and ')
    into condition
    from svc_private.studio_columns(one_table) c where c.key_place is not null;
  if condition is null then
    return null;
  end if;
  -- t.*, because t may be the name of a column.
  execute format('select row(t.*)::text from %s t where %s', one_table, condition) into found_row using key;
  return found_row;
end
$$;

comment on function svc_private.studio_record(text, text[]) is
  'One row by its primary key, as the text of its row type; null when there is none. '
  'Definer: an operator asks why a policy hides the row from a user.';

grant execute on function svc_private.studio_record(text, text[]) to svc_studio_read;
