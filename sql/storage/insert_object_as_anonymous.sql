-- Inserts a stored file under the policies that hold for who are not signed in, those of the application included. Called by
-- svc_private.insert_object().
--
-- SECURITY DEFINER with a reader for its owner: the request roles have no INSERT on svc.storage_objects, the readers have.

create or replace function svc_private.insert_object_as_anonymous(object svc.storage_objects)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  insert into svc.storage_objects select (object).*;
end
$$;

call svc_private.run_as_reader('svc_private.insert_object_as_anonymous(svc.storage_objects)', 'svc_reader_anonymous');
-- Not for the request's role, whatever schema it may look into: it would choose ids and sizes.
revoke execute on function svc_private.insert_object_as_anonymous(svc.storage_objects) from svc_anonymous;

comment on function svc_private.insert_object_as_anonymous(svc.storage_objects) is
  'Stores the row of a file where the policies for who are not signed in let it. '
  'Definer: a reader owns it, for request roles may not insert; policies for strangers decide.';
