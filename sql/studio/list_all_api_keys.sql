-- API keys of all users, or of one by id or address, for `svc keys list`: those last created first, without their hashes.
-- Instead of the address, which nobody knows, a service account has its name and that of its organization.

create or replace function svc_private.list_all_api_keys(of_user text, most integer)
returns table (
  id text, user_id text, email text, name text, start text, scopes text[], created_at timestamptz,
  expires_at timestamptz, last_used_at timestamptz
)
language sql
stable
security definer
set search_path = ''
as $$
  select k.id, k.user_id, coalesce(a.name || ' of ' || o.name, u.email), k.name, k.start, k.scopes, k.created_at, k.expires_at, k.last_used_at
    from auth.api_key k
    join auth."user" u on u.id = k.user_id
    left join (svc.service_accounts a join svc.organizations o on o.id = a.org_id) on a.id = k.user_id
   where of_user is null or k.user_id = of_user or u.email = (select svc_private.lower_address(of_user))
   order by k.created_at desc, k.id
   limit most
$$;

comment on function svc_private.list_all_api_keys(text, integer) is
  'API keys without their hashes, of all users or of one by id or address. '
  'Definer: the system need not read the schema auth.';
