-- svc.search_keyword() for the role svc_anonymous; no other role may execute it. It runs as svc_reader_anonymous: under
-- the policies of svc_anonymous, and with EXECUTE on the functions that read the index.

create or replace function svc_hidden.search_keyword_as_anonymous(
  target text, fields text[], query text, scope jsonb, filters jsonb, page_size integer, skipped integer, prefix boolean,
  feedback jsonb default null
)
returns table (id text, score double precision)
language sql
stable
security definer
set search_path = ''
as $$
  select * from svc_private.select_matches(target, fields, query, scope, filters, page_size, skipped, prefix, feedback)
$$;

comment on function svc_hidden.search_keyword_as_anonymous(text, text[], text, jsonb, jsonb, integer, integer, boolean, jsonb) is
  'Keyword search under the policies of svc_anonymous. Called by svc.search_keyword(). '
  'Definer: a reader owns it, so that policies for anonymous callers apply and the index can be used.';

call svc_private.run_as_reader(
  'svc_hidden.search_keyword_as_anonymous(text, text[], text, jsonb, jsonb, integer, integer, boolean, jsonb)', 'svc_reader_anonymous'
);
