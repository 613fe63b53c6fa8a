-- Stores the result of a conversion, ends its claim, and charges its owner, in one statement: a process that dies before it
-- leaves nothing charged. If a claim expired and two callers converted the same bytes, the first result is kept, and the
-- reservations of the second are released; both get the same id. Called by src/documents/conversion-cache.ts as svc_system.

create or replace function svc_private.keep_conversion(
  owner_id text, sha256 text, options text, result json,
  used jsonb,  -- [{id, amount}]: reservations of the ledger, and what was used of each
  out conversion_id uuid, out charged numeric
)
language plpgsql
volatile
set search_path = ''
as $$
begin
  -- The user before the conversion and the ledger, as the deletion of an account: otherwise the two could wait for each other.
  perform from auth."user" u where u.id = keep_conversion.owner_id for key share;
  insert into svc_private.document_conversions as c (owner_id, sha256, options, result)
  values (keep_conversion.owner_id, keep_conversion.sha256, keep_conversion.options, keep_conversion.result)
  on conflict on constraint document_conversions_owner_id_sha256_options_key do update
     set result = excluded.result, used_at = now(), claim = null, claimed_until = null
   where c.result is null
  returning c.id into conversion_id;
  if conversion_id is not null then
    select coalesce(sum(svc_private.settle_credits(u.id, u.amount, null, null)), 0) into charged
      from jsonb_to_recordset(used) as u (id bigint, amount numeric);
  else
    perform svc_private.release_credits(u.id) from jsonb_to_recordset(used) as u (id bigint, amount numeric);
    conversion_id := svc_private.find_conversion(owner_id, sha256, options);
    charged := 0;
  end if;
end
$$;

comment on function svc_private.keep_conversion(text, text, text, json, jsonb) is
  'Caches the result of a conversion for its owner, and charges what it used, unless there is a result already.';

-- For workers of versions of svc that charged before: those that a release replaces, or that take its place again.
create or replace function svc_private.keep_conversion(owner_id text, sha256 text, options text, result json)
returns uuid
language sql
volatile
set search_path = ''
as $$
  select k.conversion_id from svc_private.keep_conversion(owner_id, sha256, options, result, '[]') k
$$;

comment on function svc_private.keep_conversion(text, text, text, json) is
  'Caches the result of a conversion for a worker of an earlier version of svc.';
