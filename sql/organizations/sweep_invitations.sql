-- Removes invitations that were made longer ago than this and cannot be accepted any more, at most `most` of them: they
-- hold addresses of people without an account. Called by workers/tasks/sweep-storage.ts once a day, until it removes none.

create or replace function svc_private.sweep_invitations(age interval, most integer default 10000)
returns bigint
language sql
volatile
set search_path = ''
as $$
  with removed as (
    delete from svc.organization_invitations d
     where d.id = any (array(
       select i.id from svc.organization_invitations i
        where i.created_at < now() - age and (i.state <> 'pending' or i.expires_at < now())
        limit most))
    returning 1
  )
  select count(*) from removed
$$;

comment on function svc_private.sweep_invitations(interval, integer) is
  'Removes invitations that were made longer ago than this and are over, and returns how many.';
