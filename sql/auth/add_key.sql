-- Adds a signing key, unless another process has just added one. Called by src/auth/sessions/key-store.ts as svc_auth.
--
-- The caller lists the keys that it knows and cannot sign with. Processes that start together take turns at the lock.
-- The second one finds a key that it does not know, gets false, and reads the table again instead of adding another
-- first key. Under READ COMMITTED each statement below sees everything that was committed before it began, hence also
-- what was committed before the lock was granted.
--
-- Earlier keys retire and are not deleted: the tokens that they signed live for five minutes. A process that has not
-- noticed may sign with an earlier key a little longer (it checks once a minute, and stops six minutes before the end).

create or replace function auth.add_key(key_id text, public_key text, private_key text, known text[])
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(7265021846114);

  if exists (
    select from auth.jwks k
     where k.id <> all (add_key.known) and k.alg = 'EdDSA' and (k.expires_at is null or k.expires_at > now())
  ) then
    return false;
  end if;

  delete from auth.jwks k where k.expires_at < now();
  update auth.jwks k set expires_at = now() + interval '15 minutes' where k.expires_at is null and k.alg = 'EdDSA';

  insert into auth.jwks (id, public_key, private_key, alg, crv, created_at)
  values (add_key.key_id, add_key.public_key, add_key.private_key, 'EdDSA', 'Ed25519', clock_timestamp());
  return true;
end
$$;

grant execute on function auth.add_key(text, text, text, text[]) to svc_auth;

comment on function auth.add_key(text, text, text, text[]) is
  'Adds a signing key and retires earlier ones; false if a live key exists that the caller does not know yet.';
