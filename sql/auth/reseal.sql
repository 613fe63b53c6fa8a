-- Puts the same thing, encrypted anew, in the place of a value. Called by src/auth/reseal.ts as svc_system.
--
-- What somebody else changed meanwhile is left: then there is no such value any more.

create or replace function svc_private.reseal(relation regclass, column_name name, old text, new text)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
declare
  changed bigint;
begin
  execute format('update %2$s as t set %1$I = $2 where t.%1$I = $1', column_name, relation) using old, new;
  get diagnostics changed = row_count;
  return changed > 0;
end
$$;

comment on function svc_private.reseal(regclass, name, text, text) is 'Whether the value was still there, and is replaced.';
