-- A foreign key is checked past the policies: the policy itself looks whether task and file are the caller's. A row whose id is
-- somebody else's file would take that file along when it goes, so the trigger removes none but the owner's.
drop policy insert_owner on public.attachments;
create policy insert_owner on public.attachments for insert to svc_authenticated
  with check (
    user_id = (select svc.current_user_id())
    and exists (select from public.tasks t where t.id = attachments.task_id)
    and exists (select from svc.storage_objects o where o.id = attachments.id)
  );

create or replace function public.remove_attached_file()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from svc.storage_objects where id = old.id and user_id = old.user_id;
  return null;
end
$$;
