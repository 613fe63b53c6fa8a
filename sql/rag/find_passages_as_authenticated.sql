-- svc.find_passages() for the role svc_authenticated; no other role may execute it. It runs as
-- svc_reader_authenticated: under the policies of svc_authenticated, and with EXECUTE on the function that reads the
-- index.

create or replace function svc_hidden.find_passages_as_authenticated(
  question text, stemming regconfig, corpus text, visibility text, owner_id text, source_ids uuid[], page_size integer,
  vector real[]
)
returns setof svc_private.passage
language sql
stable
security definer
set search_path = ''
as $$
  select * from svc_private.select_passages(question, stemming, corpus, visibility, owner_id, source_ids, page_size, vector)
$$;

comment on function svc_hidden.find_passages_as_authenticated(text, regconfig, text, text, text, uuid[], integer, real[]) is
  'Passages under the policies of svc_authenticated. Called by svc.find_passages(). '
  'Definer: a reader owns it, so that policies for signed-in users apply and the index can be used.';

call svc_private.run_as_reader(
  'svc_hidden.find_passages_as_authenticated(text, regconfig, text, text, text, uuid[], integer, real[])', 'svc_reader_authenticated'
);
