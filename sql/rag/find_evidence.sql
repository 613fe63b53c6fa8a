-- The sentences that most resemble each of some claims, for ctx.grounding.answer (src/rag/grounding.ts), which then
-- judges whether a sentence supports the claim. svc_private.select_evidence() says how they are found.
--
-- This function only chooses the role that reads (sql/README.md, "Readers"). A request gets the function that the
-- reader of its role owns, because the index over words cannot be used under a policy: matching words is not a
-- leakproof operator. svc_hidden.reading_role() says which role that is, also in a definer function of the
-- application.

create or replace function svc.find_evidence(
  claims text[],
  stemming regconfig,
  corpus text,
  visibility text,
  owner_id text,       -- null: documents of all owners that the policies show
  source_ids uuid[],   -- null: all documents of the scope
  chunk_limit integer,
  sentence_limit integer,
  vectors jsonb default null   -- for each claim an array of numbers, of length 1 as a vector, or null
)
returns table (
  claim integer,          -- position in claims, from 1
  source_id uuid,
  source_title text,
  section_id uuid,
  section_path text[],
  chunk_id uuid,
  chunk_text text,
  page_start integer,
  sentence text,
  coverage double precision,          -- share of the claim's weight in the sentence, 0 to 1
  chunk_coverage double precision,    -- the same in the chunk and its headings, words of the same stem counting in part
  matched text[],                     -- the claim's lexemes in the sentence
  missing text[],                     -- the claim's lexemes that the sentence lacks
  similarity double precision         -- of the chunk's vector to the claim's; null without vectors
)
language plpgsql
stable
set search_path = ''
as $$
declare
  reader constant text := svc_hidden.reading_role();
begin
  if reader = 'svc_authenticated' then
    return query select * from svc_hidden.find_evidence_as_authenticated(
      claims, stemming, corpus, visibility, owner_id, source_ids, chunk_limit, sentence_limit, vectors);
  elsif reader = 'svc_anonymous' then
    return query select * from svc_hidden.find_evidence_as_anonymous(
      claims, stemming, corpus, visibility, owner_id, source_ids, chunk_limit, sentence_limit, vectors);
  else
    return query select * from svc_private.select_evidence(
      claims, stemming, corpus, visibility, owner_id, source_ids, chunk_limit, sentence_limit, vectors);
  end if;
end
$$;

comment on function svc.find_evidence(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb) is
  'Sentences of a scope that cover the words of claims, best first; weights are counted among chunks that the caller may read.';

grant execute on function svc.find_evidence(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb)
  to svc_anonymous, svc_authenticated;
