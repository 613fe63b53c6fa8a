-- Whether a stored file is the caller's own. For policies of applications on tables whose rows show a file to others,
-- such as the attachments of a team, and for ctx.storage.requireOwned.
--
-- It is not enough that a caller may see the file: if the owner makes the file private again, it would stay readable
-- through the row that names it. plpgsql, because PostgreSQL would expand a sub-select of the policy in place. It would
-- then report a recursion where a policy of svc.storage_objects reads the application's table.

create or replace function svc.owns_object(object_id uuid)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select from svc.storage_objects o where o.id = object_id and o.user_id = (select svc.current_user_id())
  );
end
$$;

grant execute on function svc.owns_object(uuid) to svc_anonymous, svc_authenticated, svc_system;

comment on function svc.owns_object(uuid) is 'Whether the stored file exists and belongs to the current user.';
