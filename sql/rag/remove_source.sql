-- Removes one of the caller's documents with its sections and chunks. Called by ctx.rag.remove (src/rag/context.ts). A
-- document of somebody else gives the same answer as a missing one.

create or replace function svc.remove_source(id uuid)
returns boolean  -- whether there was one
language sql
volatile
set search_path = ''
as $$
  with removed as (
    delete from svc.rag_sources s
     where s.id = remove_source.id and s.owner_id is not distinct from (select svc.current_user_id())
    returning s.id
  )
  select exists (select from removed)
$$;

comment on function svc.remove_source(uuid) is 'Removes a document of the caller; false if there is none.';

grant execute on function svc.remove_source(uuid) to svc_authenticated;
