-- Encrypted values of a column in sorted order, starting after a value: a walk over all of them. Called by
-- src/auth/reencrypt.ts as svc_system, first with an empty text, then with the last value.
--
-- The library writes `$ba$<number of the secret>$<bytes in hex>`.

create or replace function svc_private.next_sealed(relation regclass, column_name name, after text, most integer)
returns setof text
language plpgsql
stable
set search_path = ''
as $$
begin
  return query execute format(
    'select t.%1$I::text from %2$s as t where t.%1$I ~ ''^\$ba\$\d+\$'' and t.%1$I collate "C" > $1
      order by t.%1$I collate "C" limit $2', column_name, relation)
    using after, most;
end
$$;

comment on function svc_private.next_sealed(regclass, name, text, integer) is
  'The encrypted values after this one, up to a limit.';
