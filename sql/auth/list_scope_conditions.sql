-- What the policies of the application's tables ask of signed-in users, by command. Called by src/auth/api-keys/check-scopes.ts as
-- svc_auth, which finds tables that every API key could use as its user.
--
-- What PostgreSQL checks depends on the command: USING for rows that are read and deleted, WITH CHECK for new ones, or USING
-- without it, and both for an update. Asking elsewhere in the policy closes nothing.

create or replace function auth.list_scope_conditions()
returns table (relation text, command text, permissive boolean, conditions text[])
language sql
stable
set search_path = ''
as $$
  select format('%I.%I', n.nspname, c.relname), one.command, p.polpermissive,
         case one.command
           when 'insert' then array[coalesce(e.writing, e.reading)]
           when 'update' then array[e.reading, coalesce(e.writing, '')]
           else array[e.reading]
         end
    from pg_catalog.pg_policy p
    join pg_catalog.pg_class c on c.oid = p.polrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   cross join lateral (
     select coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), '') as reading,
            pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) as writing) e
   cross join (values ('select', 'r'), ('insert', 'a'), ('update', 'w'), ('delete', 'd')) as one (command, letter)
   where c.relrowsecurity and p.polcmd::text in (one.letter, '*')
     and n.nspname !~ '^(pg_.*|information_schema|auth|svc|svc_hidden|svc_private|svc_crud|extensions|graphile_worker)$'
     and (0 = any (p.polroles) or 'svc_authenticated'::regrole = any (p.polroles))
   order by 1, 2
$$;

grant execute on function auth.list_scope_conditions() to svc_auth;

comment on function auth.list_scope_conditions() is
  'What policies of the application ask of signed-in users, by table and command; of an update one of two conditions is enough.';
