-- Indexes tables again whose index was made when words became other terms than now. `svc migrate` calls it after the
-- platform's functions are in place (src/migrate/migrate.ts), because an index and the queries into it must split words
-- alike. Rows keep being searched as they were until the migration commits, unless a migration has emptied the index:
-- then searches wait for it.

create or replace function svc_private.renew_search()
returns table (name text)  -- of the tables that were indexed again
language plpgsql
volatile
set search_path = ''
as $$
declare
  known svc_private.search_tables;
begin
  for known in
    select t.* from svc_private.search_tables t
     where t.splitting <> svc_private.search_splitting()
       and (to_regclass(t.name) = t.relation or svc_private.is_searchable(to_regclass(t.name), t.id))  -- or restored
     order by t.id
  loop
    execute format('lock table %s in share row exclusive mode', known.name);
    update svc_private.search_tables t set splitting = svc_private.search_splitting(), relation = to_regclass(t.name)
     where t.id = known.id returning * into known;
    perform svc_private.clear_search(known.id);
    perform svc_private.fill_search(known);
    name := known.name;
    return next;
  end loop;
end
$$;

comment on function svc_private.renew_search() is
  'Indexes tables again whose index was made when words became other terms, and names them. '
  'lint:allow executed_text: names of tables that svc migrate has written down.';
