-- Cards: a card is shared, or its owner's alone. Users see and change shared cards and their own; they delete their own.

alter table public.cards enable row level security;

create policy select_shared_or_own on public.cards
  for select to svc_authenticated
  using (is_shared or user_id = (select svc.current_user_id()));

create policy insert_own on public.cards
  for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()));

-- The check is about the new row: nobody makes the card of another person private.
create policy update_shared_or_own on public.cards
  for update to svc_authenticated
  using (is_shared or user_id = (select svc.current_user_id()))
  with check (is_shared or user_id = (select svc.current_user_id()));

create policy delete_own on public.cards
  for delete to svc_authenticated
  using (user_id = (select svc.current_user_id()));

-- Insert is granted on all columns, because ctx.db.insert names them all. An update never writes ids, owners and creation
-- times.
grant select, insert, delete on public.cards to svc_authenticated;
grant update (title, is_shared, updated_at) on public.cards to svc_authenticated;

comment on policy select_shared_or_own on public.cards is 'Users see shared cards and their own.';
comment on policy insert_own on public.cards is 'Users create cards as their own.';
comment on policy update_shared_or_own on public.cards is 'Users change shared cards and their own; only owners make them private.';
comment on policy delete_own on public.cards is 'Users delete their own cards.';
