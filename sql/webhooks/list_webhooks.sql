-- The triggers of webhooks with their declarations: the only place where the database keeps these. Called by functions of
-- this folder, svc_private.studio_webhooks() and svc_private.silence_copy(). A partition has copies of its table's triggers, which
-- are left out.

create or replace function svc_private.list_webhooks()
returns table (name text, relation regclass, trigger text, declared jsonb, statement text, enabled boolean)
language sql
stable
set search_path = ''
as $$
  select d.declared ->> 'name', t.tgrelid::regclass, t.tgname::text, d.declared, p.prosrc, t.tgenabled = 'O'
    from pg_catalog.pg_trigger t
    join pg_catalog.pg_proc p on p.oid = t.tgfoid and p.pronamespace = 'svc_private'::regnamespace
   -- The first argument; each ends with a zero byte.
   cross join lateral (
     select convert_from(substring(t.tgargs from 1 for position('\x00'::bytea in t.tgargs) - 1), 'UTF8')::jsonb as declared) d
   where t.tgname like '\_svc\_webhook\_%' and t.tgparentid = 0
$$;

comment on function svc_private.list_webhooks() is 'The triggers of webhooks, and what each one declares.';
