-- Finds the jobs that a worker holds among a million that nobody does. Every worker asks every two seconds
-- (rescue_workers.sql, return_lost_jobs.sql); without the index each look reads the whole queue.
--
-- The table is the queue library's, hence an index here and not in migrations/, which run before it is there. Looked for
-- first: "if not exists" locks the table, and jobs could not be enqueued until the whole migration has ended. An entry is
-- made when a job is claimed, and it is the sixth; updates of this table could never stay in their page anyway.

do $$
begin
  if to_regclass('graphile_worker.jobs_held') is null then
    create index jobs_held on graphile_worker._private_jobs (locked_by) where locked_by is not null;
  end if;
end
$$;

comment on index graphile_worker.jobs_held is 'Jobs that a worker holds. Of svc, not of the library.';
