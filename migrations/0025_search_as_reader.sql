-- What finds candidates in an index sees rows of everybody, so requests may not call it any more. The functions that requests
-- call run under their policies (sql/access/run_as_reader.sql).

-- It is svc_private.find_matches() now.
drop function if exists svc.find_matches(text, text[], text, text, text, integer, boolean, text[]);

-- Three functions give the same rows.
create type svc_private.evidence as (
  claim integer,
  source_id uuid,
  source_title text,
  section_id uuid,
  section_path text[],
  chunk_id uuid,
  chunk_text text,
  page_start integer,
  sentence text,
  coverage double precision,
  chunk_coverage double precision,
  matched text[],
  missing text[],
  similarity double precision
);

comment on type svc_private.evidence is 'A sentence that resembles a claim: svc.find_evidence() says what the columns mean.';

comment on table svc_private.search_groups is
  'What a search looks through: rows of one corpus and visibility and, where they are private, of one owner.';
