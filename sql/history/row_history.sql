-- What changed in a row of an audited table, newest first; nothing where the caller does not see the row. Called by
-- svc.find_history() and by handlers: select * from svc.row_history('public.invoices', '7').
--
-- This function only chooses the role that reads (sql/README.md, "Readers").

create or replace function svc.row_history(
  relation regclass,
  key text,                   -- the primary key as text; of several columns a JSON array
  before bigint default null, -- the id of the last entry of the page before
  most integer default 100
)
returns table (
  id bigint,
  at timestamptz,
  actor text,       -- the user who made the change; null: the system or an administrator
  operation text,
  changed jsonb     -- by column [before, after]; null: the values are not kept
)
language plpgsql
stable
set search_path = ''
as $$
declare
  reader constant text := svc_hidden.reading_role();
begin
  if reader = 'svc_authenticated' then
    return query select * from svc_hidden.row_history_as_authenticated(relation, key, before, most);
  elsif reader = 'svc_anonymous' then
    return query select * from svc_hidden.row_history_as_anonymous(relation, key, before, most);
  else
    return query select * from svc_private.select_entries(relation, key, before, most);
  end if;
end
$$;

comment on function svc.row_history(regclass, text, bigint, integer) is
  'What changed in a row of an audited table that the caller sees, newest first.';

grant execute on function svc.row_history(regclass, text, bigint, integer) to svc_anonymous, svc_authenticated;
