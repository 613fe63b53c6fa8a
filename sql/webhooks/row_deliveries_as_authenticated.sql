-- svc.row_deliveries() for the role svc_authenticated; no other role may execute it. It runs as svc_reader_authenticated: under the
-- policies of svc_authenticated, which decide about the endpoint's row, and with EXECUTE on the function that reads deliveries.

create or replace function svc_hidden.row_deliveries_as_authenticated(
  relation regclass, key text, only_id uuid, before bigint, most integer
)
returns table (
  sequence bigint, id uuid, webhook text, state text, attempts integer, created_at timestamptz, due_at timestamptz,
  ended_at timestamptz, last_status integer, last_error text
)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  target record;
  found_key text;
begin
  select * into target from svc_private.endpoint_key(relation);
  if not found then
    return;
  end if;
  execute format('select %s from %s as e where %s', target.key, relation, target.condition) into found_key using key;
  return query select * from svc_private.find_endpoint_deliveries(target.source, found_key, only_id, before, most);
end
$$;

comment on function svc_hidden.row_deliveries_as_authenticated(regclass, text, uuid, bigint, integer) is
  'Deliveries to an endpoint whose row the caller sees. Called by svc.row_deliveries(). '
  'lint:allow executed_text: only names of the catalog; the key is a parameter. '
  'Definer: a reader owns it, so that policies for signed-in users apply and deliveries can be read.';

call svc_private.run_as_reader(
  'svc_hidden.row_deliveries_as_authenticated(regclass, text, uuid, bigint, integer)', 'svc_reader_authenticated'
);
