-- Inserts a stored file as its owner, so that the policies of svc.storage_objects decide. Called by
-- svc_private.store_upload(), as svc_system or as the owner of the tables, with svc.user_id set.

create or replace function svc_private.insert_object(object svc.storage_objects)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  if object.by_system then
    insert into svc.storage_objects select (object).*;  -- no policy restricts the system
  elsif object.user_id is null then
    perform svc_private.insert_object_as_anonymous(object);
  else
    perform svc_private.insert_object_as_authenticated(object);
  end if;
end
$$;

comment on function svc_private.insert_object(svc.storage_objects) is
  'Stores the row of a file for the user of the transaction; 42501 if a policy refuses it.';
