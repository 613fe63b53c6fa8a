-- How often each step was tried. A run counts only those that failed since its last checkpoint.

alter table svc.workflow_steps add column attempts integer;

comment on column svc.workflow_steps.attempts is
  'How often a step was tried until its checkpoint; null for waits, and in rows of earlier versions.';
