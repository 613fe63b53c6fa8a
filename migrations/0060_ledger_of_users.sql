-- The rows of a deleted user have no user_id, as those of the system and of anonymous callers. They counted for their cap.
alter table svc.ai_ledger add column of_user boolean not null default false;
-- The cap is for 24 hours.
update svc.ai_ledger set of_user = true where user_id is not null and created_at > now() - interval '25 hours';

comment on column svc.ai_ledger.of_user is 'Whether a user called, who may be gone since.';
