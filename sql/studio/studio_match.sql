-- What each term of a query adds to the scores of rows, for Studio's Search lab (sql/search/explain_match.sql). Studio
-- passes rows that the viewer has found.

create or replace function svc_private.studio_match(
  target text, query text, corpus text, visibility text, owner text, prefix boolean, row_ids text[]
)
returns table (
  row_id text, term text, n bigint, holding bigint, documents bigint, idf double precision, tf bigint, length bigint,
  average double precision, norm double precision, contribution double precision
)
language sql
stable
security definer
set search_path = ''
as $$
  select m.*
    from svc_private.list_searchable() s
   cross join lateral svc_private.explain_match(s.name, s.fields, query, corpus, visibility, owner, prefix, row_ids) m
   where s.name = target
$$;

comment on function svc_private.studio_match(text, text, text, text, text, boolean, text[]) is
  'For rows and the terms of a query that they have: rarity, frequency, length and what each adds to the score. '
  'Definer: svc_studio_read has no rights on the tables of the search.';

grant execute on function svc_private.studio_match(text, text, text, text, text, boolean, text[]) to svc_studio_read;
