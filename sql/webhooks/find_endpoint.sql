-- The URL and the secret of an endpoint that is a row of the application. Part of svc_private.claim_deliveries(), which reads
-- them when it sends: they are copied nowhere, and a change counts from the next attempt on.

create or replace function svc_private.find_endpoint(source text, endpoint text)
returns table (url text, secret text, enabled boolean)
language plpgsql
stable
set search_path = ''
as $$
declare
  key name;
  equals text;
  type text;
begin
  select a.attname, svc_private.equality(a.atttypid), format_type(a.atttypid, -1) into key, equals, type -- null would be char(1)
    from pg_catalog.pg_index i
    join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
   where i.indrelid = to_regclass(source) and i.indisprimary;
  if found then
    return query execute format(
      'select e.url::text, e.secret::text, e.enabled from %s as e where e.%I %s $1::%s', source, key, equals, type) using endpoint;
  end if;
exception when undefined_column or datatype_mismatch or data_exception then
  return; -- the table has become another one
end
$$;

revoke execute on function svc_private.find_endpoint(text, text) from svc_system;

comment on function svc_private.find_endpoint(text, text) is
  'URL, secret and whether it is enabled, of an endpoint that is a row; no row when it is gone.';
