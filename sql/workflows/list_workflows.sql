-- Runs, newest first. Called by ctx.workflows.list and `svc workflows list`, under the caller's row-level security. The
-- cursor is the position of the last returned run: its time and its id.
create or replace function svc.list_workflows(wanted_status text, wanted_name text, most integer, after text)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  after_time constant timestamptz := coalesce(split_part(after, '|', 1), 'infinity');
  after_id constant uuid := coalesce(nullif(split_part(after, '|', 2), ''), 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  ids uuid[];
  last text;
begin
  select array_agg(p.id order by p.created_at desc, p.id desc),
         (array_agg(p.created_at || '|' || p.id order by p.created_at, p.id))[1]
    into ids, last
    from (
      select r.id, r.created_at from svc.workflow_runs r
       where (wanted_status is null or r.status = wanted_status)
         and (wanted_name is null or r.name = wanted_name)
         and (r.created_at, r.id) < (after_time, after_id)
       order by r.created_at desc, r.id desc limit most) p;
  return json_build_object(
    'items', (
      select coalesce(json_agg(svc_hidden.describe_run(i.id) order by i.place), '[]')
        from unnest(ids) with ordinality i (id, place)),
    'nextCursor', case when cardinality(ids) = most then last end);
end
$$;

grant execute on function svc.list_workflows(text, text, integer, text) to svc_authenticated;

comment on function svc.list_workflows(text, text, integer, text) is
  'A page of the runs that the caller may see, newest first, and the cursor of the next page.';
