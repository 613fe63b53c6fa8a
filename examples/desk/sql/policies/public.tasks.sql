-- Tasks: users see and change their own, as ownerRls() in backend/schema.ts declares. The migrator drops the table's other
-- policies and privileges before it runs this file, so the file is complete.

alter table public.tasks enable row level security;

create policy select_owner on public.tasks
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

create policy insert_owner on public.tasks
  for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()));

create policy update_owner on public.tasks
  for update to svc_authenticated
  using (user_id = (select svc.current_user_id()))
  with check (user_id = (select svc.current_user_id()));

create policy delete_owner on public.tasks
  for delete to svc_authenticated
  using (user_id = (select svc.current_user_id()));

-- Grants come last: half applied must mean denied. Insert is granted on all columns, because ctx.db.insert names them
-- all. An update never writes ids, owners and creation times.
grant select, insert, delete on public.tasks to svc_authenticated;
grant update (title, done, priority, updated_at) on public.tasks to svc_authenticated;

comment on policy select_owner on public.tasks is 'Users see their own tasks.';
comment on policy insert_owner on public.tasks is 'Users create tasks as their own.';
comment on policy update_owner on public.tasks is 'Users change their own tasks.';
comment on policy delete_owner on public.tasks is 'Users delete their own tasks.';
