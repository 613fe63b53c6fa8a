-- Makes a SECURITY DEFINER function run under the policies of a request's role. Called by the files of such functions.
--
-- The function's owner becomes svc_reader_anonymous or svc_reader_authenticated, which is a member of the request's
-- role. PostgreSQL then applies the policies, permissive and restrictive, to every table that the function reads, with
-- the identity of the transaction. Only the request's role of the same name gets EXECUTE: an anonymous caller of the
-- other function would be checked against the wrong policies.
--
-- A new owner needs CREATE on the schema while the owner changes. It is revoked at once afterwards.

create or replace procedure svc_private.run_as_reader(signature regprocedure, reader regrole)
language plpgsql
set search_path = ''
as $$
declare
  home constant regnamespace := (select p.pronamespace from pg_catalog.pg_proc p where p.oid = signature);
begin
  if reader not in ('svc_reader_anonymous'::regrole, 'svc_reader_authenticated'::regrole) then
    raise exception '% is not a reader', reader using errcode = '22023';
  end if;
  execute format('grant create on schema %s to %s', home, reader);
  execute format('alter function %s owner to %s', signature, reader);
  execute format('revoke create on schema %s from %s', home, reader);
  execute format('revoke execute on function %s from public, svc_anonymous, svc_authenticated', signature);
  execute format('grant execute on function %s to %s', signature,
    case reader when 'svc_reader_anonymous'::regrole then 'svc_anonymous' else 'svc_authenticated' end);
end
$$;

comment on procedure svc_private.run_as_reader(regprocedure, regrole) is
  'Gives a definer function to a reader, so that the policies of the request''s role decide what it sees.';
