-- Makes the triggers of the application's webhooks. Its generated sql/webhooks.sql calls it as svc_owner, with all of its
-- declarations. Calling it again changes only what differs: the table of an unchanged webhook is not locked.
--
-- A webhook that is no longer declared loses its triggers, and what it has not sent yet is dead: what its author takes back
-- does not leave later. What it has not sent is dead, too, when it runs a procedure now.
--
-- Triggers of one event fire by name. These begin with _, before letters: a trigger of the application that changes the
-- new row once more would otherwise have its delivery before that of the row, and receivers would end with the older values.

create or replace function svc_private.install_webhooks(wanted jsonb)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  each record;
  virtual text;
  child regclass;
begin
  for each in
    select t.trigger, t.relation from svc_private.list_webhooks() t
     where not (t.enabled and exists (
       select from jsonb_array_elements(wanted) as w
        where w = t.declared and svc_private.webhook_body(w) = t.statement and to_regclass(w ->> 'table') = t.relation))
  loop
    execute format('drop trigger %I on %s', each.trigger, each.relation);
  end loop;

  for each in
    select w as declared, w ->> 'table' as relation, operation,
           format('_svc_webhook_%s_%s', w ->> 'name', operation) as trigger, format('webhook %s', w ->> 'name') as function
      from jsonb_array_elements(wanted) as w
     cross join lateral jsonb_array_elements_text(w -> 'when') as operation
  loop
    child := svc_private.inheriting_table(each.relation::regclass);
    if child is not null then
      raise exception '% inherits from %: the webhook would not tell changes of its rows', child, each.relation
        using errcode = 'feature_not_supported', hint = 'Make it a partition, or leave the webhook to a table without such tables.';
    end if;

    -- Parses it: a table or a column that is missing would otherwise refuse each later write of a row.
    execute format('prepare svc_webhook (%s, text) as %s', each.relation,
      svc_private.webhook_statement(each.declared, '$1', '$2'));
    deallocate svc_webhook;
    continue when exists (
      select from svc_private.list_webhooks() t
       where t.relation = each.relation::regclass and t.trigger = each.trigger);

    select a.attname into virtual from pg_catalog.pg_attribute a
     where a.attrelid = each.relation::regclass and a.attgenerated = 'v'
       and (each.declared -> 'columns' ? a.attname or each.declared -> 'filter' ? a.attname);
    if found then -- Triggers of PostgreSQL 18 do not compute it.
      raise exception 'a webhook cannot read the virtual generated column % of %', virtual, each.relation
        using errcode = 'feature_not_supported', hint = 'Make the column STORED.';
    end if;

    -- The settings are those on which the JSON of a value depends.
    -- SECURITY DEFINER, because the roles that write rows have no rights on the deliveries. Nobody but the owner may execute it, so
    -- nobody else makes a trigger with it.
    execute format('create or replace function svc_private.%I() returns trigger language plpgsql volatile security definer '
      'set search_path = '''' set timezone = ''UTC'' set datestyle = ''ISO'' set extra_float_digits = 1 '
      'set intervalstyle = ''postgres'' set bytea_output = ''hex'' set quote_all_identifiers = off as %L',
      each.function, svc_private.webhook_body(each.declared));
    execute format('alter function svc_private.%I() owner to svc_owner', each.function);  -- an administrator may call this by hand
    execute format('revoke execute on function svc_private.%I() from public, svc_system', each.function);
    execute format('comment on function svc_private.%I() is %L', each.function,
      'Trigger: notes what the webhook delivers of a changed row, or adds the job of its procedure. '
      'Definer: those who write rows have no rights on deliveries and jobs; it returns nothing to them.');
    execute format('create trigger %I after %s on %s for each row when (%s) execute function svc_private.%I(%L)',
      each.trigger, each.operation, each.relation, svc_private.webhook_condition(each.declared, each.operation),
      each.function, each.declared);
  end loop;

  for each in
    select p.oid::regprocedure as function
      from pg_catalog.pg_proc p
     where p.pronamespace = 'svc_private'::regnamespace
       and (p.proname like 'webhook %' or p.proname = 'note_delivery')  -- the one function of all in earlier versions
       and not exists (select from pg_catalog.pg_trigger t where t.tgfoid = p.oid)
  loop
    execute format('drop function %s', each.function);
  end loop;

  update svc.webhook_deliveries d
     set state = 'dead', ended_at = now(),
         last_error = case when exists (select from jsonb_array_elements(wanted) as w where w ->> 'name' = d.webhook)
                           then 'The webhook runs a procedure now.' else 'The webhook is no longer declared.' end
   where d.state = 'pending'
     and d.webhook not in (select w ->> 'name' from jsonb_array_elements(wanted) as w where not w ? 'procedure');
end
$$;

comment on function svc_private.install_webhooks(jsonb) is
  'Sets the webhooks of the application to [{name, table, key, columns, data, when, filter, env, procedure, or endpoints and owner}].';
