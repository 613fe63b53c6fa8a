-- svc.find_evidence() for the role svc_anonymous; no other role may execute it. It runs as svc_reader_anonymous: under
-- the policies of svc_anonymous, and with EXECUTE on the function that reads the index.

create or replace function svc_hidden.find_evidence_as_anonymous(
  claims text[], stemming regconfig, corpus text, visibility text, owner_id text, source_ids uuid[], chunk_limit integer,
  sentence_limit integer, vectors jsonb
)
returns setof svc_private.evidence
language sql
stable
security definer
set search_path = ''
as $$
  select * from svc_private.select_evidence(
    claims, stemming, corpus, visibility, owner_id, source_ids, chunk_limit, sentence_limit, vectors)
$$;

comment on function svc_hidden.find_evidence_as_anonymous(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb) is
  'Evidence under the policies of svc_anonymous. Called by svc.find_evidence(). '
  'Definer: a reader owns it, so that policies for anonymous callers apply and the index can be used.';

call svc_private.run_as_reader(
  'svc_hidden.find_evidence_as_anonymous(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb)', 'svc_reader_anonymous'
);
