-- Everything the linter finds, the worst first: the rows of all views whose names begin with lint_.
--
-- Intended findings are silenced where they occur: a comment on the object with "lint:allow RULE" and a reason silences that rule there,
-- for example  comment on policy insert_anyone on guestbook is 'lint:allow anonymous_write: a guest book.'
--
-- What a partition has from its table is told once, of the table. So is a foreign key to a partitioned table, which has a
-- copy for each partition.

create or replace function svc_private.lint_schema()
returns table (severity text, rule text, name text, problem text, remedy text)
language plpgsql
stable
set search_path = 'pg_catalog'
set jit = off  -- compiling takes a second for each of some rules, running them milliseconds
as $$
declare
  rule_view record;
begin
  for rule_view in
    select c.oid::regclass as view, substr(c.relname, 6) as rule
      from pg_catalog.pg_class c
     where c.relnamespace = 'svc_private'::regnamespace and c.relkind = 'v' and c.relname like 'lint\_%'
     order by c.relname
  loop
    return query execute format(
      'with found as materialized (select * from %s)
       select found.severity, %L::text, found.name::text, found.problem::text, found.remedy::text
         from found
        where not exists (
          select from pg_catalog.pg_description d
           where d.classoid = found.catalog and d.objoid = found.object and d.objsubid in (0, found.part)
             and d.description ~ %L)
          and not exists (
          select from found as whole
           where whole.catalog = found.catalog and whole.object <> found.object
             and (whole.catalog = ''pg_catalog.pg_class''::regclass
                  and whole.object in (select pg_catalog.pg_partition_ancestors(found.object))
                  or whole.catalog = ''pg_catalog.pg_constraint''::regclass
                  and whole.object = (select k.conparentid from pg_catalog.pg_constraint k where k.oid = found.object)))
        order by found.name', rule_view.view, rule_view.rule, 'lint:allow ' || rule_view.rule || '\M\W*\w');
  end loop;
end
$$;

comment on function svc_private.lint_schema() is
  'Findings of the views svc_private.lint_*, without those that a comment on the object allows ("lint:allow RULE: '
  'reason").';
