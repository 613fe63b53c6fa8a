-- The desk's tables, who may do what with their rows, and the grants that let policies be asked at all.
-- Policies are those of ownerRls() and openRls() in backend/schema.ts.

create table public.tasks (
  id serial primary key,
  user_id text not null references auth."user" (id) on delete cascade,
  title text not null,
  done boolean not null default false,
  priority integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Serves the list (newest first, one owner) and the policies' comparison.
create index tasks_owner_newest on public.tasks (user_id, created_at desc, id desc);

create table public.posts (
  id uuid primary key default gen_random_uuid(),
  user_id text not null references auth."user" (id) on delete cascade,
  title text not null,
  body text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index posts_newest on public.posts (created_at desc, id desc);
create index posts_owner on public.posts (user_id);

create table public.guestbook (
  id serial primary key,
  message text not null check (length(message) <= 500),
  created_at timestamptz not null default now()
);

create index guestbook_newest on public.guestbook (created_at desc, id desc);

alter table public.tasks enable row level security;
alter table public.posts enable row level security;
alter table public.guestbook enable row level security;

create policy select_owner on public.tasks for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));
create policy insert_owner on public.tasks for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()));
create policy update_owner on public.tasks for update to svc_authenticated
  using (user_id = (select svc.current_user_id()))
  with check (user_id = (select svc.current_user_id()));
create policy delete_owner on public.tasks for delete to svc_authenticated
  using (user_id = (select svc.current_user_id()));

create policy select_anyone on public.posts for select to svc_anonymous, svc_authenticated
  using (true);
create policy insert_owner on public.posts for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()));
create policy update_owner on public.posts for update to svc_authenticated
  using (user_id = (select svc.current_user_id()))
  with check (user_id = (select svc.current_user_id()));
create policy delete_owner on public.posts for delete to svc_authenticated
  using (user_id = (select svc.current_user_id()));

create policy select_anyone on public.guestbook for select to svc_anonymous, svc_authenticated using (true);
create policy insert_anyone on public.guestbook for insert to svc_anonymous, svc_authenticated with check (true);
create policy update_anyone on public.guestbook for update to svc_anonymous, svc_authenticated
  using (true) with check (true);
create policy delete_anyone on public.guestbook for delete to svc_anonymous, svc_authenticated using (true);

-- Grants come last: half applied must mean denied. Ids, owners and creation times are never written by an update.
grant select, delete on public.tasks to svc_authenticated;
grant insert (user_id, title, done, priority) on public.tasks to svc_authenticated;
grant update (title, done, priority, updated_at) on public.tasks to svc_authenticated;

grant select on public.posts to svc_anonymous, svc_authenticated;
grant delete on public.posts to svc_authenticated;
grant insert (user_id, title, body) on public.posts to svc_authenticated;
grant update (title, body, updated_at) on public.posts to svc_authenticated;

grant select, delete on public.guestbook to svc_anonymous, svc_authenticated;
grant insert (message) on public.guestbook to svc_anonymous, svc_authenticated;
grant update (message) on public.guestbook to svc_anonymous, svc_authenticated;

grant usage on sequence public.tasks_id_seq to svc_authenticated;
grant usage on sequence public.guestbook_id_seq to svc_anonymous, svc_authenticated;
