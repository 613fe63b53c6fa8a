-- Changes of rows that an operator makes as a user, all or none. The policies decide about each as for a call of that
-- user. The line in svc.operator_acts names tables, keys and columns; it holds no values.

create or replace function svc_private.act_change_rows(viewer text, changes jsonb)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  change jsonb;
begin
  perform svc_private.act_for(viewer);
  for change in select * from jsonb_array_elements(changes) loop
    if viewer is null then
      perform svc_private.change_row_as_anonymous(change);
    else
      perform svc_private.change_row_as_authenticated(change);
    end if;
  end loop;
  perform svc_private.act_for(null);
  perform svc_private.note_act(
    'act_change_rows',
    jsonb_build_object('as', viewer, 'changes', (
      select jsonb_agg(jsonb_build_object(
               'table', c ->> 'table', 'command', c ->> 'command', 'key', c -> 'key',
               'columns', (select jsonb_agg(k order by k) from jsonb_object_keys(c -> 'set') as k)))
        from jsonb_array_elements(changes) as c)),
    jsonb_array_length(changes) || ' changed');
  return jsonb_array_length(changes);
end
$$;

comment on function svc_private.act_change_rows(text, jsonb) is
  'Changes rows as a user, all or none, and writes the act. '
  'Definer: no login may write svc.operator_acts; the rows are changed by readers, under the policies.';

grant execute on function svc_private.act_change_rows(text, jsonb) to svc_studio_act;
