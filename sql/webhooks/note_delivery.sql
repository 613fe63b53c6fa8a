-- Notes the deliveries of a changed row, in the transaction that changed it. A trigger of svc_private.install_webhooks()
-- calls it for each row that its WHEN clause lets through; its arguments are the declaration and the statement.
--
-- SECURITY DEFINER, because the roles that write rows have no rights on the deliveries. The statement comes from `svc codegen`
-- and has no value of a row. So that nobody can run other SQL as the owner, no role but the owner may make a trigger with
-- this function.

create or replace function svc_private.note_delivery()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
set timezone = 'UTC'
set datestyle = 'ISO'
set extra_float_digits = 1
as $$
declare
  noted integer;
begin
  if tg_op = 'DELETE' then
    execute tg_argv[1] using old, 'delete';
  else
    execute tg_argv[1] using new, lower(tg_op);
  end if;
  get diagnostics noted = row_count;
  if noted > 0 then
    perform pg_catalog.pg_notify('svc_webhooks', '');  -- one notice for a transaction
  end if;
  return null;
end
$$;

revoke execute on function svc_private.note_delivery() from svc_system;

comment on function svc_private.note_delivery() is
  'Trigger: notes what a webhook delivers of the changed row. '
  'Definer: those who write rows have no rights on the deliveries; it returns nothing to them. '
  'lint:allow executed_text: only what svc migrate wrote into the trigger; the row is a parameter.';
