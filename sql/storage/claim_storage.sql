-- Whether this database may sweep the stored files. Called by src/storage/claim.ts as svc_system, before each sweep, with
-- the mark that it found beside them.
--
-- A mark of a later sweep than the last one here was written by a copy of this database, or before this one was
-- restored. The count is committed before the mark is written, so a crash in between leaves an earlier mark, which fits.
--
-- A pattern takes the number out, so that any other text becomes null: PostgreSQL 18 evaluates a cast of the argument
-- while it plans, also within a CASE.

create or replace function svc_private.claim_storage(mark text, adopt boolean)
returns text
language sql
volatile
set search_path = ''
as $$
  update svc_private.storage_mark m
     set database = case when adopt then gen_random_uuid() else m.database end, sweeps = m.sweeps + 1
   where adopt or mark is null
      or mark ~ ('^' || m.database::text || ' ') and substring(mark from ' ([0-9]{1,18})$')::bigint <= m.sweeps
  returning concat(database, ' ', sweeps)
$$;

comment on function svc_private.claim_storage(text, boolean) is
  'The next mark, or null if the given one is of another database or of a later sweep. Null: there is none yet.';
