-- The number of a group: the rows of one corpus and visibility, and for private rows of one owner. Null: it has no rows, or
-- the scope names no group. Called by svc_private.index_texts(), svc_private.search_group() and svc_private.explain_match().
--
-- Two statements, because "is not distinct from" does not use the index (sql/README.md): a table may have a group for each
-- user.

create or replace function svc_private.search_group_id(target integer, corpus text, visibility text, owner_id text)
returns integer
language plpgsql
stable
set search_path = ''
set jit = off
set enable_seqscan = off  -- the table may have been empty when the plan was made
as $$
begin
  if visibility = 'private' then
    return (
      select g.id from svc_private.search_groups g
       where g.table_id = search_group_id.target and g.corpus = search_group_id.corpus
         and g.visibility = 'private' and g.owner_id = search_group_id.owner_id
    );
  end if;
  return (
    select g.id from svc_private.search_groups g
     where g.table_id = search_group_id.target and g.corpus = search_group_id.corpus
       and g.visibility = search_group_id.visibility and g.owner_id is null
  );
end
$$;

comment on function svc_private.search_group_id(integer, text, text, text) is
  'The group of a searchable table''s rows with a corpus, visibility and owner.';
