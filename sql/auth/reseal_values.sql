-- Replaces encrypted values of a column with the same contents, encrypted again. Called by src/auth/reencrypt.ts as svc_system:
-- all values of a page at once, because each call reads the whole table.
--
-- SECURITY DEFINER, because svc_system may not write accounts. It changes only columns of svc_private.sealed_columns(),
-- and only from one encrypted value to another; a password's hash is not an encrypted value.
--
-- A value that another session has changed meanwhile is left: the old one no longer exists.

create or replace function svc_private.reseal_values(relation regclass, column_name name, old text[], new text[])
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  changed integer;
begin
  if not exists (select from svc_private.sealed_columns() s
                  where s.relation = reseal_values.relation::text and s.column_name = reseal_values.column_name::text)
     or exists (select from unnest(reseal_values.old, reseal_values.new) as v (before, after)
                 where concat(v.before, ' ', v.after) !~ '^\$ba\$\d+\$\S+ \$ba\$\d+\$\S+$') then
    raise exception '%.% has no such encrypted value', relation, column_name using errcode = '22023';
  end if;
  execute format('update %2$s as t set %1$I = v.after from unnest($1, $2) as v (before, after) where t.%1$I = v.before',
    column_name, relation) using reseal_values.old, reseal_values.new;
  get diagnostics changed = row_count;
  return changed;
end
$$;

comment on function svc_private.reseal_values(regclass, name, text[], text[]) is
  'Replaces those of the values that still exist, and returns in how many rows. '
  'Definer: svc_system may not write accounts.';
