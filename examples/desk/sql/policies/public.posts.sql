-- Posts: everybody reads them, users change their own, as ownerRls() in backend/schema.ts declares.

alter table public.posts enable row level security;

create policy select_anyone on public.posts
  for select to svc_anonymous, svc_authenticated
  using (true);

create policy insert_owner on public.posts
  for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()));

create policy update_owner on public.posts
  for update to svc_authenticated
  using (user_id = (select svc.current_user_id()))
  with check (user_id = (select svc.current_user_id()));

create policy delete_owner on public.posts
  for delete to svc_authenticated
  using (user_id = (select svc.current_user_id()));

grant select on public.posts to svc_anonymous, svc_authenticated;
grant insert, delete on public.posts to svc_authenticated;
grant update (title, body, updated_at) on public.posts to svc_authenticated;

comment on policy select_anyone on public.posts is 'Everybody reads posts. lint:allow world_readable_table: they are public.';
comment on policy insert_owner on public.posts is 'Users write posts as their own.';
comment on policy update_owner on public.posts is 'Users change their own posts.';
comment on policy delete_owner on public.posts is 'Users delete their own posts.';
