/** Violations of the linter's rules about tables, their policies, grants, columns and indexes. */
import type { Planted } from "./planted.ts";

const table = (columns: string, more = "") =>
  `create table lab.t (id bigint primary key, owner text not null, ${columns}); alter table lab.t enable row level security; ${more}`;
const plain = "note text";
const grantAll = "grant select, insert, update, delete on lab.t to svc_authenticated; create index on lab.t (owner);";
const ownPolicy = "create policy own on lab.t to svc_authenticated using (owner = (select svc.current_user_id()));";
const dropTable = "drop table lab.t";

export const plantedTables: Planted[] = [
  {
    rule: "always_true_policy",
    plant: table(plain, `${grantAll} create policy p on lab.t for insert to svc_authenticated with check (true);`),
    undo: dropTable,
  },
  {
    rule: "always_true_policy",
    plant: table(plain, `${grantAll} create policy p on lab.t to svc_authenticated using (true);`),
    undo: dropTable,
  },
  {
    rule: "anonymous_write",
    plant: table(
      plain,
      `${grantAll} grant insert on lab.t to svc_anonymous; create policy p on lab.t for insert to svc_anonymous with check (note <> '');`,
    ),
    undo: dropTable,
  },
  {
    rule: "dropped_owner_row",
    plant: `${table("by text", `create index on lab.t (by); create policy p on lab.t to svc_authenticated using (by = (select svc.current_user_id()))`)}`,
    undo: dropTable,
  },
  {
    rule: "descending_nulls_last",
    plant: table("at date not null", "create index newest on lab.t (id, at desc nulls last);"),
    undo: dropTable,
  },
  {
    rule: "duplicate_index",
    plant: table(plain, "create index a on lab.t (note); create index b on lab.t (note);"),
    undo: dropTable,
  },
  { rule: "duplicate_index", plant: table(plain, "create unique index a on lab.t (id);"), undo: dropTable },
  {
    rule: "everybody_policy",
    plant: table(
      plain,
      "create policy p on lab.t using (owner = (select svc.current_user_id())); create index on lab.t (owner);",
    ),
    undo: dropTable,
  },
  {
    rule: "exhausted_sequence",
    plant:
      "create table lab.t (id serial primary key); alter table lab.t enable row level security; select setval('lab.t_id_seq', 2000000000)",
    undo: dropTable,
  },
  {
    rule: "foreign_key_to_auth",
    plant: table('mail text references auth."user" (email)', "create index on lab.t (mail)"),
    undo: dropTable,
  },
  {
    rule: "given_away_row",
    plant: table(
      plain,
      `${grantAll} create policy p on lab.t for update to svc_authenticated using (owner = (select svc.current_user_id())) with check (true);`,
    ),
    undo: dropTable,
  },
  {
    rule: "grant_without_policy",
    plant: table(
      plain,
      `${grantAll} create policy p on lab.t for select to svc_authenticated using (owner = (select svc.current_user_id()));`,
    ),
    undo: dropTable,
  },
  {
    rule: "invalid_index",
    plant: table(
      plain,
      "create index a on lab.t (note); update pg_catalog.pg_index set indisvalid = false where indexrelid = 'lab.a'::regclass;",
    ),
    undo: dropTable,
  },
  {
    rule: "multiple_permissive_policies",
    plant: table(
      plain,
      `${grantAll} ${ownPolicy} create policy more on lab.t for select to svc_authenticated using (note = 'x');`,
    ),
    undo: dropTable,
  },
  {
    rule: "no_primary_key",
    plant: "create table lab.t (id bigint); alter table lab.t enable row level security",
    undo: dropTable,
  },
  {
    rule: "policy_without_rls",
    plant: table(plain, `${grantAll} ${ownPolicy} alter table lab.t disable row level security;`),
    undo: dropTable,
  },
  {
    rule: "public_grant",
    plant: table(plain, `${grantAll} ${ownPolicy} grant select on lab.t to public;`),
    undo: dropTable,
  },
  {
    rule: "recursive_policy",
    plant: table(
      "team text",
      `${grantAll} create policy colleagues on lab.t for select to svc_authenticated
         using (team in (select m.team from lab.t m where m.owner = (select svc.current_user_id())));`,
    ),
    undo: dropTable,
  },
  {
    rule: "recursive_policy",
    // Each policy queries the other table.
    plant: `create table lab.a (id bigint primary key); create table lab.b (id bigint primary key);
      alter table lab.a enable row level security; alter table lab.b enable row level security;
      create policy a on lab.a for select to svc_authenticated using (id in (select id from lab.b));
      create policy b on lab.b for select to svc_authenticated using (exists (select from lab.a where a.id = b.id))`,
    undo: "drop table lab.b, lab.a",
  },
  {
    rule: "reference_past_policy",
    plant: table("parent bigint references lab.t (id)", `create index on lab.t (parent); ${grantAll} ${ownPolicy}`),
    undo: dropTable,
  },
  {
    // What `searchable` with a restrictive policy declares, as in the recipe for teams.
    rule: "reference_past_policy",
    plant: `create table lab.a (id bigint primary key, team bigint); alter table lab.a enable row level security;
      grant select on lab.a to svc_authenticated;
      create policy shared on lab.a for select to svc_authenticated using (true);
      create policy only_team on lab.a as restrictive for select to svc_authenticated using (team = 1);
      ${table("parent bigint references lab.a (id)", `create index on lab.t (parent); ${grantAll} ${ownPolicy}`)}`,
    undo: "drop table lab.t, lab.a",
  },
  { rule: "reg_type_column", plant: table("f regproc"), undo: dropTable },
  { rule: "request_role_owns", plant: table(plain, "alter table lab.t owner to svc_authenticated;"), undo: dropTable },
  { rule: "rls_disabled", plant: "create table lab.t (id bigint primary key)", undo: dropTable },
  { rule: "rls_without_policy", plant: table(plain, "grant select on lab.t to svc_authenticated;"), undo: dropTable },
  ...[
    "team = any (array(select m.team from lab.m where m.who = (select svc.current_user_id())))",
    "exists (select from lab.m where m.team = t.team and m.who = (select svc.current_user_id()))",
  ].map((condition) => ({
    rule: "self_granted_access",
    plant: `create table lab.m (id bigint primary key, team text, who text not null); alter table lab.m enable row level security;
      create index on lab.m (who); grant select, insert on lab.m to svc_authenticated;
      create policy read on lab.m for select to svc_authenticated using (who = (select svc.current_user_id()));
      create policy join_any on lab.m for insert to svc_authenticated with check (who = (select svc.current_user_id()));
      ${table("team text", `grant select on lab.t to svc_authenticated; create policy p on lab.t for select to svc_authenticated using (${condition});`)}`,
    undo: "drop table lab.t, lab.m",
  })),
  {
    rule: "sensitive_column_exposed",
    plant: table(
      "api_key text",
      "grant select on lab.t to svc_anonymous; create policy p on lab.t for select to svc_anonymous using (owner = 'x');",
    ),
    undo: dropTable,
  },
  { rule: "timestamp_without_time_zone", plant: table("at timestamp"), undo: dropTable },
  { rule: "truncate_granted", plant: table(plain, "grant truncate on lab.t to svc_authenticated;"), undo: dropTable },
  ...[
    "exists (select from lab.b where b.id = t.bought)",
    "bought in (select id from lab.b)",
    "bought = any (array(select id from lab.b))",
    "lab.may_buy(bought)",
  ].map((condition) => ({
    rule: "unchecked_update",
    plant: `create table lab.b (id bigint primary key);
      create function lab.may_buy(bigint) returns boolean language sql stable as 'select true';
      ${table("bought bigint", `${grantAll} ${ownPolicy} create policy bought on lab.t as restrictive for insert to svc_authenticated with check (${condition});`)}`,
    undo: "drop table lab.t, lab.b; drop function lab.may_buy",
  })),
  {
    rule: "unindexed_foreign_key",
    plant:
      "create table lab.a (id bigint primary key); alter table lab.a enable row level security; create table lab.b (id bigint primary key, a bigint references lab.a); alter table lab.b enable row level security",
    undo: "drop table lab.b, lab.a",
  },
  { rule: "unindexed_policy_column", plant: table(plain, ownPolicy), undo: dropTable },
  ...["uuid", "varchar(40)"].map((type) => ({
    rule: "unindexed_policy_column",
    plant: `create table lab.t (id bigint primary key, owner ${type} not null); alter table lab.t enable row level security;
      create policy own on lab.t to svc_authenticated using (owner = (select svc.current_user_id())${type === "uuid" ? "::uuid" : ""});`,
    undo: dropTable,
  })),
  {
    rule: "unlogged_table",
    plant: "create unlogged table lab.t (id bigint primary key); alter table lab.t enable row level security",
    undo: dropTable,
  },
  ...[
    "exists (select from lab.t where t.file = storage_objects.id)",
    "id in (select file from lab.t)",
    "id = any (array(select t.file from lab.t))",
  ].map((condition) => ({
    rule: "unowned_file_shared",
    plant: table(
      "file uuid",
      `${grantAll} ${ownPolicy} create policy app_shared on svc.storage_objects for select to svc_authenticated using (${condition});`,
    ),
    undo: `drop policy app_shared on svc.storage_objects; ${dropTable}`,
  })),
  {
    rule: "unowned_file_shared",
    plant: table(
      "file uuid",
      `${grantAll} create policy own on lab.t for insert to svc_authenticated with check (file is null or owner <> '');
       create policy app_shared on svc.storage_objects for select to svc_authenticated
         using (exists (select from lab.t where t.file = storage_objects.id));`,
    ),
    undo: `drop policy app_shared on svc.storage_objects; ${dropTable}`,
  },
  {
    rule: "unpublishable_table",
    plant:
      "create table lab.t (id bigint); alter table lab.t enable row level security; create publication lab_publication for table lab.t",
    undo: "drop publication lab_publication; drop table lab.t",
  },
  { rule: "unpublishable_table", plant: "create publication lab_all for all tables", undo: "drop publication lab_all" },
  {
    rule: "unvalidated_constraint",
    plant: table(plain, "alter table lab.t add check (note <> '') not valid;"),
    undo: dropTable,
  },
  {
    rule: "sub_select_in_policy",
    plant: table(
      plain,
      `${grantAll} create policy p on lab.t to svc_authenticated using (owner in (select user_id from public.memberships));`,
    ),
    undo: dropTable,
  },
  {
    rule: "unwrapped_identity",
    plant: table(
      plain,
      `${grantAll} create policy p on lab.t to svc_authenticated using (owner = svc.current_user_id());`,
    ),
    undo: dropTable,
  },
  {
    rule: "user_field_in_policy",
    plant: table(
      plain,
      `${grantAll} create policy p on lab.t to svc_authenticated using (exists (select from auth."user" u where u.id = owner and u.name = 'admin'));`,
    ),
    undo: dropTable,
  },
  // Each way to look for the caller in the column.
  ...[
    "language sql stable security definer set search_path = '' as 'select who from lab.b where other = (select svc.current_user_id())'",
    "language sql stable security definer set search_path = '' as 'select who from lab.b where svc.current_user_id() in (who, other)'",
    "language sql stable security definer set search_path = '' begin atomic; select who from lab.b where other = svc.current_user_id(); end",
    "language plpgsql stable security definer set search_path = '' as $$ declare me constant text := svc.current_user_id(); begin return query select who from lab.b where lab.b.other = me; end $$",
  ].map((body) => ({
    rule: "untold_reader",
    plant: `create table lab.b (id bigint primary key, who text not null, other text not null); alter table lab.b enable row level security;
      create unique index told on lab.b (id, who); alter table lab.b replica identity using index told;
      create function lab.hidden() returns setof text ${body};
      ${table(plain, `${grantAll} create policy p on lab.t as restrictive for select to svc_authenticated using (not (owner = any (array(select lab.hidden()))));`)}`,
    undo: "drop table lab.t; drop function lab.hidden(); drop table lab.b",
  })),
  {
    rule: "volatile_policy_function",
    plant: `create function lab.f() returns boolean language sql set search_path = '' as 'select true'; ${table(plain, `${grantAll} create policy p on lab.t to svc_authenticated using (lab.f());`)}`,
    undo: "drop table lab.t; drop function lab.f()",
  },
  {
    rule: "world_readable_table",
    plant: table(
      plain,
      "grant select on lab.t to svc_anonymous; create policy p on lab.t for select to svc_anonymous using (true);",
    ),
    undo: dropTable,
  },
  {
    rule: "table_bloat",
    plant: `${table(plain)} alter table lab.t set (autovacuum_enabled = false);
      insert into lab.t select n, 'ann', '' from generate_series(1, 11000) n; delete from lab.t; select pg_stat_force_next_flush()`,
    undo: dropTable,
  },
  {
    rule: "unused_index",
    plant: table(
      plain,
      "insert into lab.t select n, 'ann', concat(md5(n::text), md5('a' || n), md5('b' || n), md5('c' || n), md5('d' || n), md5('e' || n)) from generate_series(1, 50000) n; create index big on lab.t (note, id);",
    ),
    undo: dropTable,
  },
];
