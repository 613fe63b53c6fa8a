-- Whether an endpoint that is a row is still that of the user or team whose row changed. Part of svc_private.claim_deliveries(): an
-- endpoint that was given to somebody else must not get what was noted before, nor its new owner by sending a dead delivery again.

create or replace function svc_private.is_owned_by(webhook text, source text, endpoint text, owner text)
returns boolean
language plpgsql
stable
set search_path = ''
set timezone = 'UTC'  -- as in the triggers that write deliveries, which have owners as texts
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
set quote_all_identifiers = off
as $$
declare
  condition text;
  comparison text;
  owned boolean;
begin
  select format('e.%I %s $2::%s', a.attname, svc_private.equality(a.atttypid), format_type(a.atttypid, -1)) into comparison
    from svc_private.list_webhooks() w
    join pg_catalog.pg_attribute a on a.attrelid = to_regclass(source) and a.attname = w.declared #>> '{endpoints,owner}'
   where w.name = is_owned_by.webhook limit 1;
  select k.condition into condition from svc_private.endpoint_key(to_regclass(source)) k;
  if condition is null or comparison is null then
    return false; -- the table has become another one
  end if;
  execute format('select %s from %s as e where %s', comparison, source, condition) into owned using endpoint, owner;
  return coalesce(owned, false);
exception when undefined_column or undefined_table or datatype_mismatch or data_exception or null_value_not_allowed then
  return false;
end
$$;

revoke execute on function svc_private.is_owned_by(text, text, text, text) from svc_system;

comment on function svc_private.is_owned_by(text, text, text, text) is
  'Whether an endpoint that is a row has this owner, by the declaration of the webhook.';
