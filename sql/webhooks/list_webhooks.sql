-- The triggers of webhooks with their declarations: the only place where the database keeps these. Called by
-- svc_private.install_webhooks() and svc_private.retry_deliveries(). A partition has copies of its table's triggers, which
-- are left out.

create or replace function svc_private.list_webhooks()
returns table (name text, relation regclass, trigger text, declared jsonb, statement text, enabled boolean)
language sql
stable
set search_path = ''
as $$
  select d.declared ->> 'name', t.tgrelid::regclass, t.tgname::text, d.declared, d.statement, t.tgenabled = 'O'
    from pg_catalog.pg_trigger t
   -- Each argument ends with a zero byte.
   cross join lateral (select position('\x00'::bytea in t.tgargs) as first) e
   cross join lateral (
     select convert_from(substring(t.tgargs from 1 for e.first - 1), 'UTF8')::jsonb as declared,
            convert_from(substring(t.tgargs from e.first + 1 for octet_length(t.tgargs) - e.first - 1), 'UTF8') as statement) d
   where t.tgfoid = 'svc_private.note_delivery'::regproc and t.tgparentid = 0
$$;

comment on function svc_private.list_webhooks() is 'The triggers of webhooks, and what each one declares.';
