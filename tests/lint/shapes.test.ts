// If this file fails, `svc db lint` misses a form of a mistake, or reports what is none.
import { expect, inject, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const me = "(select svc.current_user_id())";
const table = (columns: string, more = "") =>
  `create table lab.t (id bigint primary key, ${columns}); alter table lab.t enable row level security; ${more}`;
const owner = (type: string, condition: string, index = "") =>
  table(
    `owner ${type}`,
    `${index} grant select on lab.t to svc_authenticated;
     create policy p on lab.t for select to svc_authenticated using (${condition});`,
  );
const foreignKey = (index: string) =>
  `create table lab.o (id bigint primary key); create table lab.t (id bigint primary key, o bigint references lab.o); ${index}`;
const invalid = (index: string) =>
  `update pg_catalog.pg_index set indisvalid = false where indexrelid = 'lab.${index}'::regclass;`;
const partitioned = `create table lab.t (id bigint, at date, primary key (id, at)) partition by range (at);
  create table lab.t1 partition of lab.t for values from ('2020-01-01') to ('2030-01-01');`;
const asks =
  "create function lab.\"isMe\"(x text) returns boolean language sql stable as 'select x = svc.current_user_id()';";
const immutable = (body: string) =>
  `${asks} create function lab.is_hers(x text) returns boolean language sql stable as 'select lab."isMe"(x)';
   create function lab.f(x text) returns boolean language sql immutable as '${body}';`;
const inserts = (more: string) =>
  table(
    "owner text not null",
    `grant insert, update on lab.t to svc_authenticated;
     create policy p on lab.t for update to svc_authenticated using (true);
     create policy q on lab.t as restrictive for update to svc_authenticated ${more};`,
  );

/** A rule, a schema, and the names of what the rule finds in it. */
const shapes: [rule: string, plant: string, found: string[]][] = [
  ["public_grant", table("note text", "grant select (note) on lab.t to public;"), ["lab.t"]],
  [
    "definer_function_without_search_path",
    "create procedure lab.p() language plpgsql security definer as 'begin end'",
    ["lab.p()"],
  ],
  [
    "definer_function_exposed_to_anyone",
    `create procedure lab.p() language plpgsql security definer set search_path = '' as 'begin end';
     grant execute on procedure lab.p() to svc_anonymous`,
    ["lab.p()"],
  ],
  // A rebuild that failed at its end leaves the older one invalid.
  [
    "duplicate_index",
    `${table("a int")} create index old on lab.t (a); create index new on lab.t (a); ${invalid("old")}`,
    ["lab.old"],
  ],
  [
    "duplicate_index",
    `${partitioned} create index a on lab.t (at); create index b on lab.t (at)`,
    ["lab.b", "lab.t1_at_idx1"],
  ],
  ["invalid_index", `${partitioned} create index a on only lab.t (at)`, ["lab.a"]],
  ["unindexed_foreign_key", foreignKey("create index on lab.t (o) where o is not null"), []],
  ["unindexed_foreign_key", foreignKey("create index on lab.t (o) where o > 5"), ["t_o_fkey on lab.t"]],
  ["unindexed_foreign_key", foreignKey(`create index i on lab.t (o); ${invalid("i")}`), ["t_o_fkey on lab.t"]],
  [
    "unindexed_policy_column",
    owner("text", `owner = ${me}`, "create index on lab.t (owner) where owner is not null;"),
    [],
  ],
  ...[
    "owner = (select svc.current_user_id()::uuid)",
    "(select svc.current_user_id())::uuid = owner",
    "(select nullif(svc.current_user_id(), '')::uuid) = owner",
    "owner = (select nullif(svc.current_user_id(), '')::uuid)",
  ].flatMap((condition): typeof shapes => [
    ["unindexed_policy_column", owner("uuid", condition), ["lab.t.owner"]],
    ["unwrapped_identity", owner("uuid", condition), []],
  ]),
  ["unindexed_policy_column", owner("text", `${me} = owner`), ["lab.t.owner"]],
  [
    "executed_text",
    `create function lab.f(name text) returns void language plpgsql set search_path = '' as 'begin execute(name); end';
     grant execute on function lab.f(text) to svc_authenticated`,
    ["lab.f(text)"],
  ],
  [
    "executed_text",
    `create function lab.f(name text) returns boolean language plpgsql set search_path = ''
       as 'begin return has_function_privilege(name, ''execute''); end';
     grant execute on function lab.f(text) to svc_authenticated`,
    [],
  ],
  ["immutable_identity", immutable('select lab."isMe"(x)'), ["lab.f(text)"]],
  ["immutable_identity", immutable("select lab.is_hers(x)"), ["lab.f(text)"]],
  ["immutable_identity", immutable("select svc.owns_object(x::uuid)"), ["lab.f(text)"]],
  ["immutable_identity", immutable("select x = ''ann'' -- current_user"), []],
  ["always_true_policy", inserts(`using (owner = ${me})`), []],
  ["always_true_policy", inserts("using (svc.has_scope('x'))"), ["p on lab.t"]],
  ["always_true_policy", inserts(`using (true) with check (owner = ${me})`), ["p on lab.t"]], // takes rows of others
  [
    "sensitive_column_exposed",
    table(
      '"passwordHash" text, "passwords" int',
      "grant select on lab.t to svc_anonymous; create policy p on lab.t for select to svc_anonymous using (id > 0);",
    ),
    ['lab.t."passwordHash"'],
  ],
  ...(
    [
      [`user_id = ${me}`, ["own on lab.m"]], // everybody joins every team
      [`user_id = ${me} and team = any (array(select lab.my_teams()))`, []],
    ] as const
  ).map(([check, found]): (typeof shapes)[number] => [
    "self_granted_access",
    `create table lab.m (id bigint primary key, team int, user_id text); alter table lab.m enable row level security;
     grant select, insert on lab.m to svc_authenticated;
     create function lab.my_teams() returns setof int language sql stable security definer set search_path = ''
       as 'select team from lab.m where user_id = (select svc.current_user_id())';
     create policy own on lab.m to svc_authenticated using (${check});
     ${table("team int", "create policy p on lab.t for select to svc_authenticated using (team = any (array(select lab.my_teams())));")}`,
    [...found],
  ]),
  ["bypassing_role", "grant pg_read_server_files to svc_request", ["svc_request"]],
];

test.for(shapes)("$0, case %#: $2", async ([rule, plant, found]) => {
  const client = await db.connect("admin");
  const names = async () =>
    (await client.query(`select name from svc_private.lint_${rule}`)).rows.map(({ name }): string => name);
  const before = await names();
  await client.query(`begin; create schema lab authorization svc_owner;
    grant usage on schema lab to svc_anonymous, svc_authenticated; ${plant}`);
  expect((await names()).filter((name) => !before.includes(name))).toEqual(found);
  await client.query("rollback");
  await client.end();
});

// A session's time zone would decide which instants the times become.
test("the remedy of a timestamp keeps the instants that UTC says", async () => {
  await db.sql(`create schema lab; ${table("at timestamp")} insert into lab.t values (1, '2026-01-01 12:00')`);
  const [finding] = await db.sql<{ remedy: string }>(
    "select remedy from svc_private.lint_timestamp_without_time_zone where name = 'lab.t.at'",
  );
  await db.sql(`set timezone = 'Asia/Seoul'; ${finding?.remedy.split(";")[0]}; reset timezone`);
  expect(await db.sql("select at = '2026-01-01 12:00Z' as kept from lab.t")).toEqual([{ kept: true }]);
});

test.skipIf(Number.parseInt(inject("serverVersion"), 10) < 17)(
  "MAINTAIN is reported where PostgreSQL has it",
  async () => {
    await db.sql(
      "create schema more; create table more.t (id bigint primary key); grant maintain on more.t to svc_authenticated",
    );
    const findings = await db.sql("select remedy from svc_private.lint_truncate_granted where name = 'more.t'");
    expect(findings).toEqual([{ remedy: "revoke maintain on more.t from svc_authenticated;" }]);
  },
);
