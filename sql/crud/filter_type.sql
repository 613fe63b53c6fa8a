-- The type that a column's filter values are cast to; null when the column is compared by its text. Called by
-- filter_condition().
--
-- Length, precision and scale are dropped on purpose: '1.005'::numeric(10,2) would be rounded and find 1.01,
-- 'abcdef'::varchar(5) would be cut and find 'abcde'. A smallint is compared with an integer, which its indexes
-- support.

create or replace function svc_hidden.filter_type(col jsonb)
returns text
language plpgsql
immutable
as $$
declare
  kind constant text := col ->> 'kind';
  declared constant text := rtrim(col ->> 'type', '[]');
begin
  if kind in ('integer', 'bigint', 'numeric', 'boolean', 'uuid', 'date') then
    return kind;
  elsif kind = 'number' then
    -- In the column's own precision: 0.1 as a double is not the 0.1 of a real.
    return case when declared ~ '(real|float4)$' then 'real' else 'double precision' end;
  elsif kind = 'timestamp' then
    return case when declared ~ '(with time zone|timestamptz)' then 'timestamptz' else 'timestamp' end;
  elsif declared ~ '^(pg_catalog\.)?(text|varchar|character varying)(\(.*)?$' then
    return 'text';  -- also an enum in TypeScript alone
  elsif declared ~ '^(pg_catalog\.)?(char|character|bpchar)(\(.*)?$' then
    return 'bpchar';
  elsif kind = 'enum' then
    return declared;
  end if;
  -- inet, interval, time, xml: a caller's value may be invalid, and some of these types have no comparison. Their text,
  -- which is what the wire shows, can always be compared.
  return null;
end
$$;

comment on function svc_hidden.filter_type(jsonb) is
  'The type that filter values of a column are cast to, null for its text. Part of svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_type(jsonb) to svc_request, svc_anonymous, svc_authenticated, svc_system;
