-- Stores the result of a conversion and ends its claim. Called by src/documents/conversion-cache.ts as svc_system. If a
-- claim expired and two callers converted the same bytes, the later result is kept; both got the same id.

create or replace function svc_private.keep_conversion(owner_id text, sha256 text, options text, result json)
returns uuid
language sql
volatile
set search_path = ''
as $$
  insert into svc_private.document_conversions (owner_id, sha256, options, result)
  values (keep_conversion.owner_id, keep_conversion.sha256, keep_conversion.options, keep_conversion.result)
  on conflict (owner_id, sha256, options) do update
     set result = excluded.result, used_at = now(), claim = null, claimed_until = null
  returning id
$$;

comment on function svc_private.keep_conversion(text, text, text, json) is
  'Caches the result of a conversion, for its owner.';
