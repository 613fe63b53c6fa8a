-- The guestbook: everybody reads and writes it, with or without an account, as openRls() in backend/schema.ts declares.

alter table public.guestbook enable row level security;

create policy select_anyone on public.guestbook
  for select to svc_anonymous, svc_authenticated
  using (true);

create policy insert_anyone on public.guestbook
  for insert to svc_anonymous, svc_authenticated
  with check (true);

create policy update_anyone on public.guestbook
  for update to svc_anonymous, svc_authenticated
  using (true)
  with check (true);

create policy delete_anyone on public.guestbook
  for delete to svc_anonymous, svc_authenticated
  using (true);

grant select, insert, delete on public.guestbook to svc_anonymous, svc_authenticated;
grant update (message) on public.guestbook to svc_anonymous, svc_authenticated;

comment on policy select_anyone on public.guestbook is 'Everybody reads the guestbook. lint:allow world_readable_table: it is public.';
comment on policy insert_anyone on public.guestbook is
  'Everybody writes in the guestbook. lint:allow anonymous_write: a guest book. lint:allow always_true_policy: messages have no owners.';
comment on policy update_anyone on public.guestbook is
  'Everybody changes messages of the guestbook. lint:allow anonymous_write: a guest book. lint:allow always_true_policy: messages have no owners.';
comment on policy delete_anyone on public.guestbook is
  'Everybody deletes messages of the guestbook. lint:allow anonymous_write: a guest book. lint:allow always_true_policy: messages have no owners.';
