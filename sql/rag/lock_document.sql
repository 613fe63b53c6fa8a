-- Serializes callers that bring the same document at the same time. Called by svc.find_unchanged()
-- and svc.find_newer_document().
--
-- SECURITY DEFINER, because advisory locks are closed to requests (sql/grants.sql). The caller's id is part of the key
-- and is read here: SQL inside a request can block only the documents of that user.

create or replace function svc_hidden.lock_document(corpus text, visibility text, key text)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  select pg_catalog.pg_advisory_xact_lock(726502192, pg_catalog.hashtext(
    pg_catalog.jsonb_build_array(svc.current_user_id(), corpus, visibility, key)::text))
$$;

grant execute on function svc_hidden.lock_document(text, text, text) to svc_authenticated;

comment on function svc_hidden.lock_document(text, text, text) is
  'Waits for another transaction that stores this document of the caller. '
  'Definer: advisory locks are closed to requests; the key contains the caller''s id, so documents of other users do '
  'not wait.';
