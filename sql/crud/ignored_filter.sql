-- The path to the first part of `filters` that svc_hidden.filter_sql() would ignore, or null. Called by
-- svc_hidden.exact_filter(): a list without one of its conditions shows too much, a removal would remove too much.

create or replace function svc_hidden.ignored_filter(columns jsonb, filters jsonb, depth integer default 0)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  part record;
  member record;
  path jsonb;
  many boolean;
begin
  if filters is null or jsonb_typeof(filters) <> 'object' then
    return '[]';
  end if;
  for part in select e.key, e.value from jsonb_each(filters) as e loop
    path := null;
    if part.key in ('OR', 'AND') then
      if depth >= 5 or jsonb_typeof(part.value) <> 'array' or part.value = '[]' then
        return jsonb_build_array(part.key);
      end if;
      for member in select m.value, m.number from jsonb_array_elements(part.value) with ordinality as m (value, number) loop
        path := case when member.value <> '{}' then svc_hidden.ignored_filter(columns, member.value, depth + 1) else '[]' end;
        if path is not null then
          return jsonb_build_array(part.key, member.number - 1) || path;
        end if;
      end loop;
    elsif columns -> part.key ? 'to' then
      many := (columns -> part.key -> 'many')::boolean;
      if depth >= 5 or jsonb_typeof(part.value) <> 'object' or part.value = '{}'
        or many and part.value - '{some,none,every}'::text[] <> '{}' then
        return jsonb_build_array(part.key);
      end if;
      for member in select m.quantifier, m.member, m.columns from svc_hidden.filter_members(columns -> part.key, part.value) as m loop
        -- An empty filter asks whether there are rows; with `every` it says nothing.
        path := case when pg_column_size(member.member) > 32768 and svc_hidden.filter_size(member.member) > 5000 then '[]'
          when member.member <> '{}' then svc_hidden.ignored_filter(member.columns, member.member, depth + 1)
          when member.quantifier = 'every' then '[]' end;
        if path is not null then
          return jsonb_build_array(part.key) || case when many then jsonb_build_array(member.quantifier) else '[]' end || path;
        end if;
      end loop;
    elsif svc_hidden.filter_condition(columns -> part.key, part.value) is null then
      return jsonb_build_array(part.key);
    end if;
  end loop;
  return null;
end
$$;

comment on function svc_hidden.ignored_filter(jsonb, jsonb, integer) is
  'Path to the first part of filters that a list would ignore, or null. Part of svc_hidden.exact_filter().';

grant execute on function svc_hidden.ignored_filter(jsonb, jsonb, integer)
  to svc_request, svc_anonymous, svc_authenticated;
