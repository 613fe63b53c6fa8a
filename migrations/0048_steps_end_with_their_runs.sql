-- A step is deleted with its run, and a run with its user: the step's own reference to the user only made each
-- checkpoint look the user up and lock its row.

alter table svc.workflow_steps drop constraint workflow_steps_user_id_fkey;
