-- Keyword search: ctx.search (src/search/context.ts), and a leg of svc.search_hybrid().
--
-- This function only chooses the role that searches (sql/README.md, "Readers"). A request gets the function that the
-- reader of its role owns. svc_hidden.reading_role() says which role that is, also in a definer function of
-- the application.

create or replace function svc.search_keyword(
  target jsonb,       -- {table}: the name of a searchable table
  fields text[],
  query text,
  scope jsonb,        -- {corpus, visibility, owner}; owner null: the caller for private, all owners otherwise
  filters jsonb,      -- [{column, op, value}]: see svc_hidden.filter_condition()
  page_size integer,
  skipped integer,
  prefix boolean default false,  -- the last word is also a prefix
  feedback jsonb default null    -- {documents, terms, weight}: terms of the best rows count, too
)
returns table (id text, score double precision)
language plpgsql
stable
set search_path = ''
as $$
declare
  name constant text := target ->> 'table';
  reader constant text := svc_hidden.reading_role();
begin
  if reader = 'svc_authenticated' then
    return query select * from svc_hidden.search_keyword_as_authenticated(
      name, fields, query, scope, filters, page_size, skipped, prefix, feedback);
  elsif reader = 'svc_anonymous' then
    return query select * from svc_hidden.search_keyword_as_anonymous(
      name, fields, query, scope, filters, page_size, skipped, prefix, feedback);
  else
    return query select * from svc_private.select_matches(
      name, fields, query, scope, filters, page_size, skipped, prefix, feedback);
  end if;
end
$$;

comment on function svc.search_keyword(jsonb, text[], text, jsonb, jsonb, integer, integer, boolean, jsonb) is
  'Keys and BM25 scores of the rows that the caller may read and a query matches, best first.';

grant execute on function svc.search_keyword(jsonb, text[], text, jsonb, jsonb, integer, integer, boolean, jsonb) to svc_anonymous, svc_authenticated;
