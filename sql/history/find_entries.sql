-- The entries of a row since it got its key, newest first. Called by svc_private.select_entries(), which has asked the table
-- whether its caller sees the row, and which leaves columns out.
--
-- SECURITY DEFINER, because no role of a request may read entries. Only readers may execute it.

create or replace function svc_private.find_entries(target integer, key text, before bigint, most integer)
returns setof svc_private.history_entries
language sql
stable
security definer
set search_path = ''
as $$
  select e.*
    from svc_private.history_entries e
   where e.table_id = target and e.row_id = key and e.id < coalesce(before, 9223372036854775807)
     and e.id >= coalesce((
       select b.id from svc_private.history_entries b
        where b.table_id = target and b.row_id = key and b.begins
        order by b.id desc limit 1), 0)
   order by e.id desc
   limit most
$$;

comment on function svc_private.find_entries(integer, text, bigint, integer) is
  'Entries of one row, newest first, without a look at the row. '
  'Definer: only svc_owner and svc_system read svc_private.history_entries, and readers execute it.';

grant execute on function svc_private.find_entries(integer, text, bigint, integer)
  to svc_reader_anonymous, svc_reader_authenticated;
