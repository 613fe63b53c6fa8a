-- Claims a signed URL for one request. Called by src/storage/uploads.ts as svc_system, with the hash of the URL's
-- token. Only uploads by a URL have a token (the constraint storage_uploads_token).

create or replace function svc_private.claim_upload(upload uuid, token_sha256 text)
returns double precision
language sql
volatile
set search_path = ''
as $$
  update svc.storage_uploads u set claimed_at = now()
   where u.id = upload and u.token_sha256 = claim_upload.token_sha256
     and u.claimed_at is null and u.expires_at > now() and auth.may_act(u.user_id)
  returning u.size
$$;

comment on function svc_private.claim_upload(uuid, text) is
  'Maximum number of bytes to send; null for a wrong token, for a URL that is used, in use or expired, and for one of a banned '
  'user.';
