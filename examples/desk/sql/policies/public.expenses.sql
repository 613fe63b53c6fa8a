-- Expenses: every signed-in user sees all of them, because colleagues decide on each other's. Users create their own. The
-- workflow's run updates an expense and acts as its owner; no operation of the API lets a person write a status.

alter table public.expenses enable row level security;

create policy select_colleague on public.expenses
  for select to svc_authenticated
  using (true);

create policy insert_owner on public.expenses
  for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()) and status = 'waiting');

create policy update_owner on public.expenses
  for update to svc_authenticated
  using (user_id = (select svc.current_user_id()))
  with check (user_id = (select svc.current_user_id()));

-- Delete is not granted: decisions stay on record. Insert is granted on all columns, because ctx.db.insert names them all;
-- the policy refuses an expense that begins with a decision.
grant select, insert on public.expenses to svc_authenticated;
grant update (status, decided_by, run_id, updated_at) on public.expenses to svc_authenticated;

comment on policy select_colleague on public.expenses is 'Colleagues see each other''s expenses.';
comment on policy insert_owner on public.expenses is 'Users create expenses as their own, undecided.';
comment on policy update_owner on public.expenses is 'Users, and the runs of their workflows, change their own expenses.';
