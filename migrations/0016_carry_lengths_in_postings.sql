-- A posting says how long its document is: a query over common words read search_documents once for each of their
-- postings, and that was most of its time. A document's length never changes; a row that is written anew is a new document.

alter table svc_private.search_postings add column lengths integer[];

update svc_private.search_postings p set lengths = d.lengths from svc_private.search_documents d where d.id = p.document_id;
delete from svc_private.search_postings where lengths is null;

alter table svc_private.search_postings
  alter column lengths set not null,
  drop constraint search_postings_pkey,
  add primary key (group_id, term, document_id) include (frequencies, lengths);

comment on column svc_private.search_postings.lengths is 'As in search_documents.';

-- These take another argument now: whether the last word is a prefix.
drop function if exists svc.search_hybrid(jsonb, text[], text, text, text, jsonb, jsonb, jsonb, integer, integer);
drop function if exists svc.search_keyword(jsonb, text[], text, jsonb, jsonb, integer, integer);
drop function if exists svc.find_matches(text, text[], text, text, text, integer);
