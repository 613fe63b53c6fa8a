-- Index to find the jobs that a worker holds among a million that no worker holds. Every worker searches every two
-- seconds (rescue_workers.sql, return_lost_jobs.sql); without the index each search reads the whole queue.
--
-- The table belongs to the queue library, so the index is here and not in migrations/, which run before the table
-- exists. The file checks for the index first, because "if not exists" locks the table, and no job could be enqueued
-- until the whole migration has ended. An index entry is written when a job is claimed. It is the sixth index; updates
-- of this table could never stay in their page anyway.

do $$
begin
  if to_regclass('graphile_worker.jobs_held') is null then
    create index jobs_held on graphile_worker._private_jobs (locked_by) where locked_by is not null;
  end if;
end
$$;

comment on index graphile_worker.jobs_held is 'Jobs that a worker holds. An object of svc, not of the library.';
