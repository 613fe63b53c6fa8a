-- A call with an idempotency key locked the row of its user from its first statement on, so a handler that changed the address of
-- its caller waited for itself. Checked at COMMIT, the row is locked for a moment.
alter table svc_private.kept_answers alter constraint kept_answers_user_id_fkey deferrable initially deferred;
