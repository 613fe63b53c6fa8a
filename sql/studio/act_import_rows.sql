-- The line in svc.operator_acts of an import by `svc data import`, written before the first row. The rows follow in batches,
-- each in a transaction of its own, as the user who is named: the policies decide about each.

create or replace function svc_private.act_import_rows(resource text, user_id text, file text)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  select svc_private.note_act(
    'act_import_rows', jsonb_build_object('resource', resource, 'userId', user_id, 'file', file), 'began')
$$;

comment on function svc_private.act_import_rows(text, text, text) is
  'Writes the act of an import that an operator begins. '
  'Definer: no login may write svc.operator_acts.';
