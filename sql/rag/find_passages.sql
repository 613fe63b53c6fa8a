-- The chunks of a scope that answer a question best, each with its best sentence, for ctx.rag.search (src/rag/passages.ts)
-- and for the model of ctx.grounding.answer. svc_private.select_passages() says how they are found and scored.
--
-- This function only chooses the role that reads, as svc.find_evidence() does.

create or replace function svc.find_passages(
  question text,
  stemming regconfig,
  corpus text,
  visibility text,
  owner_id text,            -- null: documents of all owners that the policies show
  source_ids uuid[],        -- null: all documents of the scope
  page_size integer,
  vector real[] default null  -- of length 1 as a vector
)
returns table (
  source_id uuid,
  source_title text,
  section_id uuid,
  section_path text[],
  chunk_id uuid,
  chunk_text text,
  page_start integer,
  sentence text,                -- the one with most words of the question
  similarity double precision,  -- of the vectors; null for a chunk that words alone found
  score double precision        -- 0 to 1
)
language plpgsql
stable
set search_path = ''
as $$
declare
  reader constant text := svc_hidden.reading_role();
begin
  if reader = 'svc_authenticated' then
    return query select * from svc_hidden.find_passages_as_authenticated(
      question, stemming, corpus, visibility, owner_id, source_ids, page_size, vector);
  elsif reader = 'svc_anonymous' then
    return query select * from svc_hidden.find_passages_as_anonymous(
      question, stemming, corpus, visibility, owner_id, source_ids, page_size, vector);
  else
    return query select * from svc_private.select_passages(
      question, stemming, corpus, visibility, owner_id, source_ids, page_size, vector);
  end if;
end
$$;

comment on function svc.find_passages(text, regconfig, text, text, text, uuid[], integer, real[]) is
  'The chunks of a scope that answer a question best, by words or by words and vectors; of those that the caller may read.';

grant execute on function svc.find_passages(text, regconfig, text, text, text, uuid[], integer, real[])
  to svc_anonymous, svc_authenticated;
