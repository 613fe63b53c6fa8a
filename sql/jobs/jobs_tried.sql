-- Finds the jobs that are failing or dead among a million that are neither: svc_private.queue_state() asks every few seconds.
-- An entry is made when an attempt has failed, not when a job is claimed or done. Why here, and looked for first: jobs_held.sql.

do $$
begin
  if to_regclass('graphile_worker.jobs_tried') is null then
    create index jobs_tried on graphile_worker._private_jobs (is_available) where locked_at is null and attempts > 0;
  end if;
end
$$;

comment on index graphile_worker.jobs_tried is 'Jobs that have failed before. Of svc, not of the library.';
