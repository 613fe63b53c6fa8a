-- Turns the `filters` of a list call into a WHERE expression over the alias `t`, or null when nothing is left of them.
-- Called by the generated list functions (sql/crud/ of the application), which EXECUTE the result.
--
-- `columns` is the allow-list from the code generator, with the relations of the resource, and is trusted; `filters` comes
-- from the caller. Only its values reach SQL, as quoted literals that were checked first: names come from `columns`,
-- operators from filter_condition(). So the result cannot fail. Invalid parts are left out; only filters beyond a limit are an
-- error (svc_hidden.refuse_filter). docs/reference/filters.md describes the language for callers.
--
-- Of the filter functions only this one sets the search path: the helpers run inside it, and setting it costs more than
-- most of their work. They are in svc_hidden, because a request role has no USAGE on svc_private, and they may do
-- nothing that the caller could not do.

create or replace function svc_hidden.filter_sql(columns jsonb, filters jsonb, depth integer default 0)
returns text
language plpgsql
stable  -- not immutable: a date is read by a cast to timestamptz
set search_path = ''
as $$
declare
  key text;
  value jsonb;
  part text;
  parts text[];
begin
  -- Filters, and members of a group, that are not objects are ignored.
  if filters is null or jsonb_typeof(filters) <> 'object' then
    return null;
  end if;

  -- Too many conditions for a planner; they take 40 kB at least, so that most filters are not even counted.
  if depth = 0 and pg_column_size(filters) > 32768 and svc_hidden.filter_size(filters) > 5000 then
    perform svc_hidden.refuse_filter('have more than 5,000 keys');
  end if;

  -- Too many patterns for every row; 21 take more than 512 bytes, and so do 2,001 characters.
  if depth = 0 and pg_column_size(filters) > 512 and exists (
    select from svc_hidden.filter_patterns(columns, filters) as p where p.patterns > 20 or p.characters > 2000
  ) then
    perform svc_hidden.refuse_filter('have more than 20 patterns, or more than 2,000 characters of them');
  end if;

  for key, value in select e.key, e.value from jsonb_each(filters) as e loop
    if key = 'OR' or key = 'AND' then
      -- Rule 3: groups nest to 5 levels. `depth` counts the groups around this object; a sixth is ignored, which also
      -- bounds the recursion. These two names are groups even in a table that has such a column.
      part := null;
      if depth < 5 and jsonb_typeof(value) = 'array' then
        -- string_agg skips members without a condition, and returns null without any: an empty OR is ignored instead of
        -- being false.
        select '(' || string_agg(m.sql, case key when 'OR' then ' or ' else ' and ' end) || ')'
          into part
          from (
            select svc_hidden.filter_sql(columns, e.member, depth + 1) as sql from jsonb_array_elements(value) as e (member)
          ) as m;
      end if;
    elsif columns -> key ? 'to' then
      -- Rule 6: a relation, which counts as a level like a group.
      part := case when depth < 5 then svc_hidden.filter_relation(columns -> key, value, depth + 1) end;
    else
      -- Rule 4: a column that is not in the allow-list has no description, so it is ignored.
      part := svc_hidden.filter_condition(columns -> key, value);
    end if;

    if part is not null then
      parts := parts || part;
    end if;
  end loop;

  -- Rule 3: several keys mean AND. Parentheses keep each expression independent of its neighbours.
  return '(' || array_to_string(parts, ' and ') || ')';
end
$$;

comment on function svc_hidden.filter_sql(jsonb, jsonb, integer) is
  'A list call''s filters as a boolean SQL expression over t, or null for none. Invalid parts are '
  'ignored, filters beyond a limit are an error.';

grant execute on function svc_hidden.filter_sql(jsonb, jsonb, integer)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
