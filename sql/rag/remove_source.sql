-- Removes a document with its sections and chunks. Called by ctx.rag.remove (src/rag/context.ts). The policies decide
-- who may: its owner, unless the application has others. A document that the caller may not remove gives the same answer
-- as a missing one. The system, which no policy restricts, removes documents without an owner.

create or replace function svc.remove_source(id uuid)
returns boolean  -- whether there was one
language sql
volatile
set search_path = ''
as $$
  with removed as (
    delete from svc.rag_sources s
     where s.id = remove_source.id and (s.owner_id is null or (select svc.current_user_id()) is not null)
    returning s.id
  )
  select exists (select from removed)
$$;

comment on function svc.remove_source(uuid) is 'Removes a document that the caller may remove; false if there is none.';

grant execute on function svc.remove_source(uuid) to svc_authenticated;
