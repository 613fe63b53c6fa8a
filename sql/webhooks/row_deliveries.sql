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
set timezone = 'UTC'  -- as in the triggers that write deliveries: an endpoint is found by its text
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
set quote_all_identifiers = off
as $$
declare
  reader constant text := svc_hidden.reading_role();
  target record;
  found_key text;
begin
  if reader = 'svc_authenticated' then
    return query select * from svc_hidden.row_deliveries_as_authenticated(relation, key, only_id, before, most);
  elsif reader <> 'svc_anonymous' then
    select * into target from svc_private.endpoint_key(relation);
    if not found then
      return;
    end if;
    execute format('select %s from %s as e where %s', target.key, relation, target.condition) into found_key using key;
    return query select * from svc_private.find_endpoint_deliveries(
      target.source, coalesce(found_key, key), only_id, before, most);  -- those to an endpoint that was deleted, too
  end if;
end
$$;

comment on function svc.row_deliveries(regclass, text, uuid, bigint, integer) is
  'Deliveries to an endpoint whose row the caller sees, newest first.';

grant execute on function svc.row_deliveries(regclass, text, uuid, bigint, integer) to svc_authenticated;
