-- What ctx.rag.search finds. Three functions return it, of which one runs for each kind of caller.

create type svc_private.passage as (
  source_id uuid,
  source_title text,
  section_id uuid,
  section_path text[],
  chunk_id uuid,
  chunk_text text,
  page_start integer,
  sentence text,
  similarity double precision,
  score double precision
);

comment on type svc_private.passage is 'A chunk that answers a question: svc.find_passages() says what the columns mean.';
