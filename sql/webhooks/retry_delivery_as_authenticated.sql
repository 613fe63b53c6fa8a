-- Sends a dead delivery again for svc.retry_delivery(), if the caller may update the row of its endpoint. Only svc_authenticated may
-- execute it. It runs as svc_reader_authenticated: the lock makes PostgreSQL ask the policies for UPDATE, as those for SELECT.
--
-- It changes only a delivery to this endpoint. SQL of a request gains nothing by it that the call does not give.

create or replace function svc_hidden.retry_delivery_as_authenticated(relation regclass, key text, delivery uuid)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
set timezone = 'UTC'  -- as in the triggers that write deliveries: an endpoint is found by its text
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
set quote_all_identifiers = off
as $$
declare
  target record;
  found_key text;
begin
  select * into target from svc_private.endpoint_key(relation);
  if not found then
    return null;
  end if;
  for found_key in execute format('select %s from %s as e where %s for key share', target.key, relation, target.condition) using key
  loop
    return exists (select from svc_private.find_endpoint_deliveries(target.source, found_key, delivery, null, 1))
      and svc_private.retry_deliveries(delivery, null) > 0;
  end loop;
  return null;
end
$$;

comment on function svc_hidden.retry_delivery_as_authenticated(regclass, text, uuid) is
  'Makes a dead delivery to an endpoint pending, whose row the caller may update; null if not. Called by svc.retry_delivery(). '
  'lint:allow executed_text: only names of the catalog; the key is a parameter. '
  'Definer: a reader owns it, so that policies for signed-in users apply and deliveries can be read.';

call svc_private.run_as_reader(
  'svc_hidden.retry_delivery_as_authenticated(regclass, text, uuid)', 'svc_reader_authenticated'
);
grant execute on function svc_private.retry_deliveries(uuid, text) to svc_reader_authenticated;
