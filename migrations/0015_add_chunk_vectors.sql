-- Vectors of chunks, for evidence in other words than a claim's. An array, not a type of pgvector: answers must work where
-- that is not installed, and a scope's vectors are compared one by one (sql/rag/find_evidence.sql says up to how many).

alter table svc.rag_chunks add column embedding real[];

comment on column svc.rag_chunks.embedding is 'Of its headings and text, of length 1; null when none was supplied.';

-- It takes vectors and gives similarities from now on; a function with other arguments would be a second one.
drop function if exists svc.find_evidence(text[], regconfig, text, text, text, uuid[], integer, integer);
