-- Index to find failing or dead jobs among a million others: svc_private.queue_state() searches every few seconds. An
-- index entry is written when an attempt has failed, not when a job is claimed or done. jobs_held.sql says why the
-- index is here and why the file checks for it first.

do $$
begin
  if to_regclass('graphile_worker.jobs_tried') is null then
    create index jobs_tried on graphile_worker._private_jobs (is_available) where locked_at is null and attempts > 0;
  end if;
end
$$;

comment on index graphile_worker.jobs_tried is 'Jobs that have failed before. An object of svc, not of the library.';
