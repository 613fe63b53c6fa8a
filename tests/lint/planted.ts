/**
 * At least one violation of every rule of the linter: statements that create it in a schema `lab`, and that remove it.
 */
import { plantedTables } from "./planted-tables.ts";

export interface Planted {
  rule: string;
  plant: string;
  undo: string;
}

const definer = (name: string, more: string) =>
  `create function lab.${name}() returns int language sql security definer ${more} as 'select 1';
   revoke execute on function lab.${name}() from public;`;

/** Violations beside tables: roles, functions, views, extensions, and what is between several tables. */
const others: Planted[] = [
  {
    rule: "unindexed_foreign_key",
    plant: `create table lab.o (id bigint primary key); alter table lab.o enable row level security;
      create table lab.a (id bigint primary key, o bigint references lab.o, unique (o, id)); alter table lab.a enable row level security;
      create table lab.b (id bigint primary key, o bigint references lab.o, a bigint, foreign key (o, a) references lab.a (o, id));
      create index on lab.b (o, id); alter table lab.b enable row level security`,
    undo: "drop table lab.b, lab.a, lab.o",
  },
  {
    rule: "auth_table_exposed",
    plant: 'grant select (email) on auth."user" to svc_authenticated',
    undo: 'revoke select (email) on auth."user" from svc_authenticated',
  },
  {
    rule: "auth_table_exposed",
    plant:
      'create view lab.people as select id, email from auth."user"; grant select on lab.people to svc_authenticated',
    undo: "drop view lab.people",
  },
  {
    rule: "auth_table_exposed",
    plant:
      'create materialized view lab.people as select id, email from auth."user"; grant select on lab.people to svc_authenticated',
    undo: "drop materialized view lab.people",
  },
  {
    rule: "auth_table_exposed",
    plant:
      'create view lab.people as select id, email from auth."user"; create view lab.visitors as select id from lab.people; grant select on lab.visitors to svc_anonymous',
    undo: "drop view lab.people cascade",
  },
  {
    rule: "bypassing_role",
    // A role belongs to the whole server; because of the open transaction other test files never see it.
    plant: "begin; create role lint_above bypassrls; grant lint_above to svc_authenticated",
    undo: "rollback",
  },
  {
    rule: "bypassing_role",
    plant:
      "begin; create role lint_between; grant pg_read_server_files to lint_between; grant lint_between to svc_anonymous",
    undo: "rollback",
  },
  {
    rule: "definer_function_exposed_to_anyone",
    plant: `${definer("f", "set search_path = ''")} grant execute on function lab.f() to svc_anonymous`,
    undo: "drop function lab.f()",
  },
  {
    rule: "definer_function_exposed_to_users",
    plant: `${definer("f", "set search_path = ''")} grant execute on function lab.f() to svc_authenticated`,
    undo: "drop function lab.f()",
  },
  { rule: "definer_function_without_search_path", plant: definer("f", ""), undo: "drop function lab.f()" },
  {
    rule: "disabled_constraint",
    plant: `create table lab.t (id bigint primary key);
      create table lab.of_t (t bigint references lab.t); alter table lab.of_t disable trigger all`,
    undo: "drop table lab.of_t, lab.t",
  },
  {
    rule: "disabled_constraint",
    plant: `create table lab.t (id bigint primary key);
      create table lab.of_t (t bigint references lab.t on delete cascade); alter table lab.t disable trigger all`,
    undo: "drop table lab.of_t, lab.t",
  },
  {
    rule: "executed_text",
    plant: `create function lab.f(name text) returns bigint language plpgsql set search_path = '' as
      'declare n bigint; begin execute ''select count(*) from '' || name into n; return n; end';
      revoke execute on function lab.f(text) from public; grant execute on function lab.f(text) to svc_authenticated`,
    undo: "drop function lab.f(text)",
  },
  {
    rule: "executed_text",
    plant: `create table lab.t (id bigint primary key); alter table lab.t enable row level security;
      create function lab.f() returns trigger language plpgsql set search_path = '' as
      'begin execute format(''select %s'', new.id); return new; end'; revoke execute on function lab.f() from public;
      create trigger t before insert on lab.t for each row execute function lab.f()`,
    undo: "drop table lab.t; drop function lab.f()",
  },
  {
    rule: "blocking_statement",
    plant: `create function lab.f() returns void language plpgsql set search_path = '' as
      'begin lock table public.notes in share mode; end';
      revoke execute on function lab.f() from public; grant execute on function lab.f() to svc_authenticated`,
    undo: "drop function lab.f()",
  },
  { rule: "extension_in_public", plant: "create extension hstore schema public", undo: "drop extension hstore" },
  {
    rule: "extension_outdated",
    plant: "create extension hstore schema extensions version '1.4'",
    undo: "drop extension hstore",
  },
  {
    rule: "foreign_table_exposed",
    plant:
      "create foreign data wrapper lab_wrapper; create server lab_server foreign data wrapper lab_wrapper; create foreign table lab.far (id int) server lab_server; grant select on lab.far to svc_authenticated",
    undo: "drop foreign data wrapper lab_wrapper cascade",
  },
  {
    rule: "function_without_search_path",
    plant: "create function lab.f() returns int language sql as 'select 1'",
    undo: "drop function lab.f()",
  },
  {
    rule: "impersonation_open",
    plant: "grant execute on function pg_catalog.set_config(text, text, boolean) to svc_authenticated",
    undo: "revoke execute on function pg_catalog.set_config(text, text, boolean) from svc_authenticated",
  },
  {
    rule: "locks_open",
    plant: "grant execute on function pg_catalog.pg_try_advisory_xact_lock(bigint) to svc_anonymous",
    undo: "revoke execute on function pg_catalog.pg_try_advisory_xact_lock(bigint) from svc_anonymous",
  },
  {
    rule: "materialized_view_exposed",
    plant: "create materialized view lab.m as select 1 as one; grant select on lab.m to svc_anonymous",
    undo: "drop materialized view lab.m",
  },
  {
    rule: "queue_exposed",
    plant: "grant usage on schema graphile_worker to svc_authenticated",
    undo: "revoke usage on schema graphile_worker from svc_authenticated",
  },
  ...["usage", "update"].map((privilege) => ({
    rule: "sequence_usable",
    plant: `create sequence lab.numbers; grant ${privilege} on sequence lab.numbers to svc_anonymous`,
    undo: "drop sequence lab.numbers",
  })),
  {
    rule: "sequence_usable",
    plant: `create table lab.t (id serial primary key); alter table lab.t enable row level security;
      grant usage on sequence lab.t_id_seq to public`,
    undo: "drop table lab.t",
  },
  {
    rule: "statements_readable",
    // The extension grants its views to PUBLIC if it is created after `svc migrate`.
    plant: "create extension pg_stat_statements schema extensions",
    undo: "drop extension pg_stat_statements",
  },
  {
    rule: "uncallable_policy_function",
    plant: `create function lab.is_mine(id int) returns boolean language sql stable as 'select id > 0';
      revoke execute on function lab.is_mine from public;
      create table lab.t (id int primary key); alter table lab.t enable row level security;
      grant select on lab.t to svc_authenticated;
      create policy own on lab.t for select to svc_authenticated using (lab.is_mine(id))`,
    undo: "drop table lab.t; drop function lab.is_mine",
  },
  {
    rule: "unreadable_table_in_policy",
    plant: `create table lab.staff (id text primary key); alter table lab.staff enable row level security;
      create policy own on lab.staff for select to svc_authenticated using (id = (select svc.current_user_id()));
      grant select on lab.staff to svc_authenticated;
      create table lab.t (id int primary key); alter table lab.t enable row level security;
      grant select on lab.t to svc_anonymous, svc_authenticated;
      create policy shown on lab.t for select to svc_anonymous, svc_authenticated using (id > 0 or exists (select from lab.staff))`,
    undo: "drop table lab.t, lab.staff",
  },
  {
    rule: "unreadable_view",
    plant: `create table lab.t (id int primary key); alter table lab.t enable row level security;
      create policy own on lab.t for select to svc_authenticated using (id > 0); grant select on lab.t to svc_authenticated;
      create view lab.inner with (security_invoker) as select * from lab.t;
      create view lab.v with (security_invoker) as select * from lab.inner;
      grant select on lab.inner, lab.v to svc_authenticated; grant select on lab.v to svc_anonymous`,
    undo: "drop view lab.v, lab.inner; drop table lab.t",
  },
  ...[
    "language sql immutable as 'select svc.current_user_id()'",
    "language plpgsql immutable as 'begin return current_setting(''svc.user_id''); end'",
    "language sql immutable begin atomic; select svc.current_user_id(); end",
    "language sql immutable as 'select lab.asks()'",
  ].map((body) => ({
    rule: "immutable_identity",
    plant: `create function lab.asks() returns text language sql stable as 'select svc.current_user_id()';
      create function lab.me() returns text ${body}`,
    undo: "drop function lab.me(); drop function lab.asks()",
  })),
  {
    rule: "view_without_security_invoker",
    plant: "create view lab.v as select * from svc.storage_objects; grant select on lab.v to svc_authenticated",
    undo: "drop view lab.v",
  },
];

export const planted: Planted[] = [...others, ...plantedTables];
