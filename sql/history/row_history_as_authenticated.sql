-- svc.row_history() for the role svc_authenticated; no other role may execute it. It runs as svc_reader_authenticated:
-- under the policies of svc_authenticated, and with EXECUTE on the function that reads entries.

create or replace function svc_hidden.row_history_as_authenticated(relation regclass, key text, before bigint, most integer)
returns table (id bigint, at timestamptz, actor text, operation text, changed jsonb)
language sql
stable
security definer
set search_path = ''
as $$
  select * from svc_private.select_entries(relation, key, before, most)
$$;

comment on function svc_hidden.row_history_as_authenticated(regclass, text, bigint, integer) is
  'The history of a row under the policies of svc_authenticated. Called by svc.row_history(). '
  'Definer: a reader owns it, so that policies for signed-in users apply and entries can be read.';

call svc_private.run_as_reader(
  'svc_hidden.row_history_as_authenticated(regclass, text, bigint, integer)', 'svc_reader_authenticated'
);
