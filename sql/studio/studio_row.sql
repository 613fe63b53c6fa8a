-- One row past every policy, as JSON. Studio of earlier versions calls it; svc_private.studio_record() replaces it.

create or replace function svc_private.studio_row(one_table text, key text[])
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
  select string_agg(format('t.%I = ($1)[%s]::%s', c.name, c.key_place, c.type), ' and ')
    into condition
    from svc_private.studio_columns(one_table) c where c.key_place is not null;
  if condition is null then
    return null;
  end if;
  execute format('select to_jsonb(t.*)::text from %s t where %s', one_table, condition) into found_row using key;
  return found_row;
end
$$;

comment on function svc_private.studio_row(text, text[]) is
  'One row by its primary key, as JSON; null when there is none. '
  'Definer: an operator asks why a policy hides the row from a user.';

grant execute on function svc_private.studio_row(text, text[]) to svc_studio_read;
