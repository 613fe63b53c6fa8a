-- The ledger of AI calls: users read their own lines. Only sql/ai/ writes lines, as svc_system: with write access users
-- could change their own limit.

alter table svc.ai_ledger enable row level security;

create policy select_owner on svc.ai_ledger
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

grant select on svc.ai_ledger to svc_authenticated;
grant select, insert, update, delete on svc.ai_ledger to svc_system;

comment on policy select_owner on svc.ai_ledger is 'Users see the cost of their own calls.';
