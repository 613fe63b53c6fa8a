-- The URL and the secret of an endpoint that is a row of the application. Part of svc_private.claim_deliveries(), which reads
-- them when it sends: they are copied nowhere, and a change counts from the next attempt on.

create or replace function svc_private.find_endpoint(source text, endpoint text)
returns table (url text, secret text, enabled boolean)
language plpgsql
stable
set search_path = ''
as $$
declare
  condition text;
begin
  select k.condition into condition from svc_private.endpoint_key(to_regclass(source)) k;
  if found then
    return query execute format('select e.url::text, e.secret::text, e.enabled from %s as e where %s', source, condition) using endpoint;
  end if;
exception when undefined_column or datatype_mismatch or data_exception then
  return; -- the table has become another one
end
$$;

revoke execute on function svc_private.find_endpoint(text, text) from svc_system;

comment on function svc_private.find_endpoint(text, text) is
  'URL, secret and whether it is enabled, of an endpoint that is a row; no row when it is gone.';
