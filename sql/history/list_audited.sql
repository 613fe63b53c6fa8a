-- The tables that are audited, and those that were, for `svc audit` (src/cli/audit.ts).

create or replace function svc_private.list_audited()
returns table (name text, omitted text[], audited boolean)
language sql
stable
set search_path = ''
as $$
  select distinct on (t.name) t.name, t.omitted, t.relation is not null
    from svc_private.history_tables t
   order by t.name, t.id desc
$$;

comment on function svc_private.list_audited() is 'Tables with entries in the history, and whether they are audited now.';
