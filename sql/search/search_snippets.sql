-- The passage of each found row that shows best why it was found: ctx.search with `snippets` (src/search/snippets.ts).
--
-- Invoker's rights: it reads the table under the caller's policies. A snippet is a list of text parts, some marked as
-- matches. It has no markup, so that a page can show it without trusting the text.

create or replace function svc.search_snippets(
  target jsonb,       -- {table}: the name of a searchable table
  fields text[],
  query text,
  prefix boolean,
  ids text[]
)
returns table (id text, field text, parts jsonb)
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  declared constant jsonb := svc_hidden.search_target(target ->> 'table');
  most_characters constant integer := 100000; -- of a field that are looked at
  most_of_all constant integer := 1000000;    -- of all fields of all rows: shared out evenly where there are more
begin
  return query execute format($sql$
    with field as materialized (
      select f.key, f.field, f.place, row_number() over () as nth, left(f.content,
               (case when sum(length(f.content)) over () > %5$s then %5$s / count(*) over () else %6$s end)::integer) as content
        from (
          select t.%1$I as key, f.field, f.content, f.place
            from %2$s as t
           cross join lateral (values %3$s) as f (field, content, place)
           where t.%1$I = any ($4::%4$s[])
        ) as f
    )
    select distinct on (f.key) f.key::text, f.field, p.parts
      from field f
      join svc_hidden.search_passages((select array_agg(f.content order by f.nth) from field f), $1, $2, $3) as p using (nth)
     order by f.key, p.matches desc, f.place
  $sql$, declared ->> 'id', declared ->> 'table',
    (select string_agg(format('(%L, left(t.%I::text, %s), %s)', u.field, u.field, most_characters, u.place), ', ')
       from unnest(fields) with ordinality as u (field, place)),
    declared ->> 'idType', most_of_all, most_characters)
  using query, prefix, declared ->> 'language', ids;
end
$$;

comment on function svc.search_snippets(jsonb, text[], text, boolean, text[]) is
  'For each row the field and the passage with the most words of a query, as [{text, match}].';

grant execute on function svc.search_snippets(jsonb, text[], text, boolean, text[]) to svc_anonymous, svc_authenticated;
