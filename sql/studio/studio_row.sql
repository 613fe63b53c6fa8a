-- One row past every policy, as JSON. Studio of earlier versions calls it; svc_private.studio_record() replaces it.

create or replace function svc_private.studio_row(one_table text, key text[])
returns text
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  record constant text := svc_private.studio_record(one_table, key);
  found_row text;
begin
  if record is not null then
    execute format('select to_jsonb($1::%s)::text', one_table) into found_row using record;
  end if;
  return found_row;
end
$$;

comment on function svc_private.studio_row(text, text[]) is
  'One row by its primary key, as JSON; null when there is none. '
  'Definer: an operator asks why a policy hides the row from a user.';

grant execute on function svc_private.studio_row(text, text[]) to svc_studio_read;
