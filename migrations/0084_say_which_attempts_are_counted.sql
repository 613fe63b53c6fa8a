-- A run counts its failures since its last checkpoint, whichever branch failed. So the steps of branches have no count of their own.

comment on column svc.workflow_steps.attempts is
  'How often a step was tried until its checkpoint; null for waits, in branches of a parallel, and in rows of earlier versions.';
