-- Deliveries to an endpoint that is a row, newest first; nothing where the caller does not see the row, or is not signed in. Called
-- by svc.find_deliveries() and by handlers: select * from svc.row_deliveries('public.endpoints', '7').
--
-- This function only chooses the role that reads (sql/README.md, "Readers"). The system sees every row.

create or replace function svc.row_deliveries(
  relation regclass,
  key text,                    -- the primary key as text
  only_id uuid default null,   -- one delivery
  before bigint default null,  -- the sequence of the last one of the page before
  most integer default 100
)
returns table (
  sequence bigint, id uuid, webhook text, state text, attempts integer, created_at timestamptz, due_at timestamptz,
  ended_at timestamptz, last_status integer, last_error text
)
language plpgsql
stable
set search_path = ''
as $$
declare
  reader constant text := svc_hidden.reading_role();
begin
  if reader = 'svc_authenticated' then
    return query select * from svc_hidden.row_deliveries_as_authenticated(relation, key, only_id, before, most);
  elsif reader <> 'svc_anonymous' then
    return query select f.* from svc_private.endpoint_key(relation) e
      cross join lateral svc_private.find_endpoint_deliveries(e.source, key, only_id, before, most) f;
  end if;
end
$$;

comment on function svc.row_deliveries(regclass, text, uuid, bigint, integer) is
  'Deliveries to an endpoint whose row the caller sees, newest first.';

grant execute on function svc.row_deliveries(regclass, text, uuid, bigint, integer) to svc_authenticated;
