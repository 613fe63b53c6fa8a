-- The definition of each table, view, function, type and publication of this database as one hash: columns,
-- constraints, indexes, triggers, policies, grants and owners. Called by src/backup/take.ts and
-- svc_private.require_restored(), as the administrator. Not compared between major versions of PostgreSQL, which word
-- the same definition differently.
--
-- Casts, parentheses and white space are left out, because they change when an expression is read back (an `in` on a
-- varchar column becomes an array of casts). Server-wide objects are left out too: versions of extensions, roles,
-- PostgreSQL's own functions. So are invalid indexes, which a failed CREATE INDEX CONCURRENTLY has left: pg_dump leaves
-- them out.

create or replace function svc_private.describe_definitions()
returns table (name text, hash text)
language sql
stable
set search_path = ''
as $$
  select f.object,
         encode(sha256(convert_to(string_agg(
           concat_ws(' ', f.kind, f.part,
             regexp_replace(f.definition, '::[a-z_ ."]+(\([0-9,]+\))?(\[\])*|[()\s]', '', 'g')),
           E'\n' order by f.kind, f.part, f.place), 'UTF8')), 'hex')
    from svc_private.list_facts() f
   where f.kind <> 'version' and not (f.kind = 'index' and f.definition like '% INVALID') and f.object !~ '^(role|PostgreSQL''s own) '
   group by f.object
$$;

comment on function svc_private.describe_definitions() is 'A hash of the definition of each object of this database.';
