-- The key of a row as entries of the history have it, for Studio, which knows it as texts of its columns. It reads past policies, but
-- gives back only what it was given, in another form.

create or replace function svc_private.studio_history_key(one_table text, key text[])
returns text
language plpgsql
stable
security definer
set search_path = ''
set timezone = 'UTC'  -- as in svc_private.note_change()
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
set quote_all_identifiers = off
as $$
declare
  target record;
  condition text;
  found_key text;
begin
  select * into target from svc_private.history_target(to_regclass(one_table));
  select string_agg(svc_private.key_condition(c.name, c.type, format('($1)[%s]', c.key_place)), ' and ')
    into condition
    from svc_private.studio_columns(one_table) c where c.key_place is not null;
  if target.id is null or condition is null then
    return null;
  end if;
  execute format('select %s from %s t where %s', target.key, one_table, condition) into found_key using key;
  return found_key;
end
$$;

comment on function svc_private.studio_history_key(text, text[]) is
  'The key of a row of an audited table as its entries have it; null when there is no such row. '
  'Definer: an operator looks at the history of a row that the chosen user may not see.';

grant execute on function svc_private.studio_history_key(text, text[]) to svc_studio_read;
