-- Sends a delivery to a row of a generated resource again, if it is dead, and returns it with its new state; null when the caller does not
-- see the row, may not update it, or it has no such delivery. Called by svc_crud.<prefix>_retry_delivery(). Runs with the caller's rights.
--
-- `resource` comes from the code generator and is trusted. `args` comes from the caller: {id, delivery}.

create or replace function svc.retry_delivery(resource jsonb, args jsonb)
returns json
language plpgsql
volatile
set search_path = ''
as $$
begin
  if svc.find_deliveries(resource, args) #> '{data,0}' is null then  -- asks about soft removal, too
    return null;
  end if;
  if svc_hidden.retry_delivery_as_authenticated(
       (resource ->> 'table')::regclass, args ->> 'id', (args ->> 'delivery')::uuid) is null then
    return null;
  end if;
  return svc.find_deliveries(resource, args) #> '{data,0}';
end
$$;

comment on function svc.retry_delivery(jsonb, jsonb) is
  'Makes a dead delivery to one row pending, and returns it with its new state, or null. Called by generated functions.';

grant execute on function svc.retry_delivery(jsonb, jsonb) to svc_authenticated;
