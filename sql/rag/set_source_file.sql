-- Says from which stored file a document was made, after the same text has come from another file: the one before may have been
-- deleted. Called by ctx.rag.ingest (src/rag/context.ts). The policies decide who may.

create or replace function svc.set_source_file(source uuid, file uuid)
returns void
language sql
volatile
set search_path = ''
as $$
  update svc.rag_sources s set storage_id = file where s.id = source and s.storage_id is distinct from file
$$;

comment on function svc.set_source_file(uuid, uuid) is 'Sets the stored file that a document was made from.';

grant execute on function svc.set_source_file(uuid, uuid) to svc_authenticated;
