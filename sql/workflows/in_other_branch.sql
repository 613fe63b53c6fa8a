-- Whether two positions are in different branches of one wf.parallel, so that neither depends on the other. The parts of a
-- position are in turn a call's place and the branch of a parallel at that place: "2.1.0" is call 0 in branch 1 of the
-- parallel at 2. Called by svc_private.retry_any_workflow.
create or replace function svc_private.in_other_branch(one text, other text)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select coalesce(min(i) % 2 = 0, false)
    from generate_subscripts(string_to_array(one, '.'), 1) i
   where (string_to_array(one, '.'))[i] is distinct from (string_to_array(other, '.'))[i]
$$;

revoke execute on function svc_private.in_other_branch(text, text) from svc_system;

comment on function svc_private.in_other_branch(text, text) is
  'Whether two positions of a run are in different branches of one wf.parallel.';
