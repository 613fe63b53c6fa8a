-- Expenses: whoever has an account sees all of them, for colleagues decide on each other's. What an expense becomes is written by
-- the run of its workflow, which acts as its owner; no operation of the API lets a person write a status.

create table public.expenses (
  id serial primary key,
  user_id text not null references auth."user" (id) on delete cascade,
  purpose text not null check (length(purpose) between 1 and 200),
  cents integer not null check (cents between 1 and 10000000),
  status text not null default 'waiting' check (status in ('waiting', 'approved', 'refused', 'expired')),
  decided_by text,
  run_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index expenses_newest on public.expenses (created_at desc, id desc);
create index expenses_owner on public.expenses (user_id, created_at desc, id desc);

comment on column public.expenses.run_id is 'The run that sees to it: its timeline is what the owner is shown.';

alter table public.expenses enable row level security;

create policy select_colleague on public.expenses for select to svc_authenticated
  using (true);
create policy insert_owner on public.expenses for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()) and status = 'waiting');
create policy update_owner on public.expenses for update to svc_authenticated
  using (user_id = (select svc.current_user_id()))
  with check (user_id = (select svc.current_user_id()));

-- Delete is not granted: what was decided stays on record. Insert is granted whole, for Drizzle names every column; the policy
-- lets nobody begin with a decision.
grant select, insert on public.expenses to svc_authenticated;
grant update (status, decided_by, run_id, updated_at) on public.expenses to svc_authenticated;
grant usage on sequence public.expenses_id_seq to svc_authenticated;
