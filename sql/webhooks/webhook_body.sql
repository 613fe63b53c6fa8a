-- The body of a webhook's trigger function, which notes the deliveries of a changed row, or adds the job of a procedure, in the
-- transaction that changed it. Part of svc_private.install_webhooks(). A function for each webhook, because PostgreSQL keeps the plans
-- of its statements in the session: a statement that one function executed for all webhooks was planned at each row, and took three
-- times as long.
--
-- The row is a record, because a partition can have the columns of its table in another order. The operation has its block's name
-- before it, because columns of the row win over variables.
--
-- `\sf svc_private."webhook invoice-paid"` shows one. It has no value of a row in its text.

-- The function of all webhooks in earlier versions. svc_private.install_webhooks() drops it where triggers still use it.
do $$
begin
  if not exists (select from pg_catalog.pg_trigger t where t.tgfoid = to_regprocedure('svc_private.note_delivery()')) then
    drop function if exists svc_private.note_delivery();
  end if;
end
$$;

-- Functions that earlier versions have made have fewer settings. A webhook that is unchanged keeps its function.
do $$
declare
  made regprocedure;
begin
  for made in
    select p.oid from pg_catalog.pg_proc p where p.pronamespace = 'svc_private'::regnamespace and p.proname like 'webhook %'
       and p.proowner = 'svc_owner'::regrole  -- others were made by an administrator, by hand
  loop
    execute format('alter function %s
      set intervalstyle = ''postgres'' set bytea_output = ''hex'' set quote_all_identifiers = off', made);
  end loop;
end
$$;

create or replace function svc_private.webhook_body(declared jsonb)
returns text
language sql
stable
set search_path = ''
as $$
  select format($body$
#variable_conflict use_column
<<webhook>>
declare
  changed record;
  operation constant text := lower(tg_op collate "C");
  noted integer;
begin
  if tg_op = 'DELETE' then changed := old; else changed := new; end if;
  %s
  return null;
end
$body$, format(case when declared ? 'procedure' then 'perform job.id from (%s) as job (id);' else $note$%s;
  get diagnostics noted = row_count;
  if noted > 0 then
    perform pg_catalog.pg_notify('svc_webhooks', '');  -- one notice for a transaction
  end if;$note$ end, svc_private.webhook_statement(declared, 'changed', 'webhook.operation')))
$$;

revoke execute on function svc_private.webhook_body(jsonb) from svc_system;

comment on function svc_private.webhook_body(jsonb) is 'The body of a webhook''s trigger function.';
