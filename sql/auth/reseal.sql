-- Replaces an encrypted value with the same content, encrypted again. Called by src/auth/reencrypt.ts as svc_system.
--
-- SECURITY DEFINER, because svc_system may not write accounts. It changes only columns of svc_private.sealed_columns(),
-- and only from one encrypted value to another; a password's hash is not an encrypted value.
--
-- If another session has changed the value meanwhile, nothing happens: the old value no longer exists.

create or replace function svc_private.reseal(relation regclass, column_name name, old text, new text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  changed bigint;
begin
  if not exists (select from svc_private.sealed_columns() s
                  where s.relation = reseal.relation::text and s.column_name = reseal.column_name::text)
     or concat(old, ' ', new) !~ '^\$ba\$\d+\$\S+ \$ba\$\d+\$\S+$' then
    raise exception '%.% has no such encrypted value', relation, column_name using errcode = '22023';
  end if;
  execute format('update %2$s as t set %1$I = $2 where t.%1$I = $1', column_name, relation) using old, new;
  get diagnostics changed = row_count;
  return changed > 0;
end
$$;

comment on function svc_private.reseal(regclass, name, text, text) is
  'Whether the value still existed and was replaced. '
  'Definer: svc_system may not write accounts.';
