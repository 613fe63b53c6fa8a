-- Inserts a stored file under the policies for anonymous callers, including those of the application. Called by
-- svc_private.insert_object().
--
-- SECURITY DEFINER, owned by a reader: the readers have INSERT on svc.storage_objects, the request roles do not.

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
-- Not for the request's role, even if it has USAGE on the schema: it would choose ids and sizes.
revoke execute on function svc_private.insert_object_as_anonymous(svc.storage_objects) from svc_anonymous;

comment on function svc_private.insert_object_as_anonymous(svc.storage_objects) is
  'Stores the row of a file if the policies for anonymous callers allow it. '
  'Definer: a reader owns it, because request roles may not insert; policies for anonymous callers decide.';
