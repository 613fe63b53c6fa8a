-- The passage of each found row that shows best why it was found: ctx.search with `snippets` (src/context/snippets.ts).
--
-- Invoker's rights: it reads the table under the caller's policies. A snippet is text in parts, of which some match: no
-- markup, so that a page can show it without trusting what is in it.

create or replace function svc.search_snippets(
  target jsonb,       -- {table, id, idType, language}
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
begin
  return query execute format($sql$
    select distinct on (t.%1$I) t.%1$I::text, f.field, s.parts
      from %2$s as t
     cross join lateral (values %3$s) as f (field, content, place)
     cross join lateral svc.search_snippet(f.content, $1, $2, $3) as s
     where t.%1$I = any ($4::%4$s[])
     order by t.%1$I, s.matches desc, f.place
  $sql$, target ->> 'id', target ->> 'table',
    (select string_agg(format('(%L, left(t.%I::text, 100000), %s)', u.field, u.field, u.place), ', ')
       from unnest(fields) with ordinality as u (field, place)),
    target ->> 'idType')
  using query, prefix, target ->> 'language', ids;
end
$$;

comment on function svc.search_snippets(jsonb, text[], text, boolean, text[]) is
  'For each row the field and the passage with the most words of a query, as [{text, match}].';

grant execute on function svc.search_snippets(jsonb, text[], text, boolean, text[]) to svc_anonymous, svc_authenticated;
