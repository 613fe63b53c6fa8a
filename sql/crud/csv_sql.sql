-- The expression that makes a record of CSV of the alias t, for svc.open_export().
--
-- `fields` are those of the resource's description: [property, column, expression of the wire form]. `cells` says of each
-- how its text is made (src/transfer/csv.ts): "plain" for a type whose text is its wire form and needs no quotes, "text" for
-- a text, "json" for JSON, "time" for a point in time, "wire" for every other type. A kind that ends in "!" is protected from spreadsheets, which compute
-- cells that begin with =, +, - or @, some also in full width or behind a tab or a line break: these get an apostrophe, unless
-- they are numbers. Source: https://owasp.org/www-community/attacks/CSV_Injection

create or replace function svc_hidden.csv_sql(fields jsonb, cells jsonb)
returns text
language sql
immutable
as $$
  select 'array_to_string(array[' || string_agg(
    case
      when c.kind = 'plain' then format('(%s)::text', f.value ->> 2)
      -- to_json() takes longer than the rest of a row; this is what it makes of such times.
      when c.kind = 'time' then format(
        $s$case when isfinite(%1$s) and %1$s >= '0001-01-01' then replace((%1$s)::text, ' ', 'T') || ':00' else to_json(%1$s) #>> '{}' end$s$,
        f.value ->> 2
      )
      else format('svc_hidden.csv_cell(%s)', format(
        case when c.kind like '%!' then
          $s$regexp_replace(%s, '^(?=[=+@＝＋－＠\t\r\n-])(?![+-]?\d+(\.\d+)?([eE][+-]?\d+)?$)', '''')$s$ else '%s' end,
        format(
          case rtrim(c.kind, '!')
            when 'text' then '(%s)::text' when 'json' then 'to_json(%s)::text' else $s$to_json(%s) #>> '{}'$s$
          end,
          f.value ->> 2
        )
      ))
    end,
    ', ' order by f.place
  ) || $s$]::text[], ',', '')$s$
    from jsonb_array_elements(fields) with ordinality as f (value, place)
    join jsonb_array_elements_text(cells) with ordinality as c (kind, place) using (place)
$$;

comment on function svc_hidden.csv_sql(jsonb, jsonb) is
  'A record of CSV as an SQL expression over t. Part of svc.open_export(). '
  'lint:allow function_without_search_path: it runs under that of its caller.';

grant execute on function svc_hidden.csv_sql(jsonb, jsonb) to svc_anonymous, svc_authenticated;
