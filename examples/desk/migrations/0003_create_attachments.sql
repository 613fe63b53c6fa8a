-- Files of tasks: which stored file belongs to which task. Whoever owns the task owns both; what a file is called and what
-- it is stands in svc.storage_objects.

create table public.attachments (
  id uuid primary key references svc.storage_objects (id) on delete cascade,
  task_id integer not null references public.tasks (id) on delete cascade,
  user_id text not null references auth."user" (id) on delete cascade,
  created_at timestamptz not null default now()
);

create index attachments_task on public.attachments (task_id, created_at);
create index attachments_owner on public.attachments (user_id);

comment on column public.attachments.id is 'Of the stored file: one file is attached to one task.';

alter table public.attachments enable row level security;

create policy select_owner on public.attachments for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));
create policy insert_owner on public.attachments for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()));
create policy delete_owner on public.attachments for delete to svc_authenticated
  using (user_id = (select svc.current_user_id()));

-- Update is not granted: a file does not move to another task. Insert is granted whole, for Drizzle names every column.
grant select, insert, delete on public.attachments to svc_authenticated;

-- A task that is removed takes its files with it; their bytes go with the next sweep. Runs as the owner of the tables, in the
-- cascade: whoever may remove the task may remove its files.
create function public.remove_attached_file()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from svc.storage_objects where id = old.id;
  return null;
end
$$;

revoke execute on function public.remove_attached_file() from public;
comment on function public.remove_attached_file() is 'The stored file goes with the row that attached it.';

create trigger remove_attached_file after delete on public.attachments
  for each row execute function public.remove_attached_file();
