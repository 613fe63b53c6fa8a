-- A checkpoint begins the count anew with 1, because the worker that made it still holds the run.

comment on column svc.workflow_runs.claims is
  'Claims since the last checkpoint, the present one included; of the others the workers died. 0 while a run is suspended or retried later.';
