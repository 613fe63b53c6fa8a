-- Attachments: users attach their own files to their own tasks. PostgreSQL checks a foreign key without policies, so the
-- insert policy itself checks that task and file are the caller's.

alter table public.attachments enable row level security;

create policy select_owner on public.attachments
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

create policy insert_owner on public.attachments
  for insert to svc_authenticated
  with check (
    user_id = (select svc.current_user_id())
    and exists (select from public.tasks t where t.id = attachments.task_id)
    and exists (select from svc.storage_objects o where o.id = attachments.id)
  );

create policy delete_owner on public.attachments
  for delete to svc_authenticated
  using (user_id = (select svc.current_user_id()));

-- Update is not granted: a file does not move to another task.
grant select, insert, delete on public.attachments to svc_authenticated;

comment on policy select_owner on public.attachments is 'Users see their own attachments.';
comment on policy insert_owner on public.attachments is 'Users attach their own files to their own tasks.';
comment on policy delete_owner on public.attachments is 'Users remove their own attachments.';
