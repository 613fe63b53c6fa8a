-- The key of a row as entries have it: the value as text, or a JSON array of several. Called by svc_private.note_change()
-- and by the SQL that svc_private.history_target() returns.

create or replace function svc_private.history_key("row" jsonb, keys text[])
returns text
language sql
immutable
set search_path = ''
as $$
  select case cardinality(keys) when 1 then "row" ->> keys[1]
         else (select jsonb_agg("row" -> k.name order by k.place)::text from unnest(keys) with ordinality as k (name, place)) end
$$;

comment on function svc_private.history_key(jsonb, text[]) is 'The primary key of a row as text.';
