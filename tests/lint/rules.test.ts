// If this file fails, `svc db lint` misses a problem that it promises to find, or reports one that is not there.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { planted } from "./planted.ts";

interface Finding {
  severity: string;
  rule: string;
  name: string;
  problem: string;
  remedy: string;
}

const db = database();
const lint = () => db.sql<Finding>("select * from svc_private.lint_schema()");
const rules = readdirSync(join(root, "sql/lint"))
  .map((file) => basename(file, ".sql"))
  .filter((name) => name !== "lint_schema");

const own = ["svc.", "svc_hidden.", "svc_private.", "svc_crud.", "auth.", "graphile_worker"];

test("the platform's own schema has no finding", async () => {
  const findings = await lint();
  expect(findings.filter(({ name }) => own.some((schema) => name.includes(schema)))).toEqual([]);
});

describe("a planted violation is found, and is gone with it", () => {
  let before: Finding[];
  const found: string[] = [];
  beforeAll(async () => {
    await db.sql(
      "create schema lab authorization svc_owner; grant usage on schema lab to svc_anonymous, svc_authenticated",
    );
    before = await lint();
  });

  test.for(planted)("$rule: $plant", async ({ rule, plant, undo }) => {
    // The view of the rule: asking all rules for each violation took most of a minute.
    const findings = async () =>
      (await db.sql<Finding>(`select severity, name, problem, remedy from svc_private.lint_${rule}`)).map((finding) =>
        JSON.stringify(finding),
      );
    const known = await findings();
    await db.sql(plant);
    const added = async () => (await findings()).filter((line) => !known.includes(line));
    const news = (await added()).map((line): Finding => JSON.parse(line));
    // The statement that a remedy begins with repairs it.
    for (const { name, problem, remedy } of news) {
      const [statement] = /^(alter|create|drop|grant|reindex|revoke|vacuum) [^;]+;/.exec(remedy) ?? [];
      if (!statement) continue;
      await db.sql(statement);
      expect((await added()).join()).not.toContain(JSON.stringify({ name, problem }).slice(1, -1));
    }
    await db.sql(undo);
    found.push(rule);
    expect(news).not.toEqual([]);
    for (const { severity, remedy, problem } of news) {
      expect(["error", "warning", "info"]).toContain(severity);
      expect([remedy, problem]).toEqual([expect.stringMatching(/\w{3}/), expect.stringMatching(/\w{3}/)]);
    }
  });

  test.for([
    [
      "owner = 'a'",
      ["Add to the condition of own: exists (select from lab.f as seen where seen.team = s.team and seen.at = s.at)."],
    ],
    ["owner = 'a' and team = 1", []], // a column of the key decides
  ] as const)("a reference by several columns under a policy %s", async ([condition, remedies]) => {
    await db.sql(`create table lab.f (team bigint, at date, primary key (team, at));
      create table lab.s (team bigint, at date, owner text, foreign key (team, at) references lab.f);
      alter table lab.f enable row level security; alter table lab.s enable row level security;
      grant select, insert on lab.s to svc_authenticated;
      create policy own on lab.s for all to svc_authenticated using (${condition})`);
    const findings = await db.sql<Finding>(
      "select * from svc_private.lint_reference_past_policy where name like '%lab.s'",
    );
    await db.sql("drop table lab.s, lab.f");
    expect(findings.map(({ remedy }) => remedy)).toEqual(remedies.map((remedy) => expect.stringContaining(remedy)));
  });

  test("the remedy of a reference within a table reads no table in its own policy", async () => {
    await db.sql(`create table lab.s (id bigint primary key, owner text, parent bigint references lab.s (id));
      alter table lab.s enable row level security; grant select, insert on lab.s to svc_authenticated;
      create policy own on lab.s for all to svc_authenticated using (owner = svc.current_user_id())`);
    const [finding] = await db.sql<Finding>(
      "select * from svc_private.lint_reference_past_policy where name like '%lab.s'",
    );
    await db.sql("drop table lab.s");
    expect(finding?.remedy).toContain("Let the condition of own call a function with security definer");
  });

  // Policies for reading apply in such a function: no condition has to be written twice.
  test.for([
    ["insert to svc_authenticated with check", "without security definer"],
    ["select to svc_authenticated using", "with security definer"],
  ])("the remedy of a recursive policy for %s is a function %s", async ([policy, remedy]) => {
    await db.sql(`create table lab.s (id bigint primary key, parent bigint, shown boolean);
      create table lab.f (id bigint primary key); alter table lab.s enable row level security;
      create policy seen on lab.s for select to svc_authenticated using (exists (select from lab.f));
      create policy p on lab.s for ${policy} (exists (select from lab.s o where o.id = s.parent))`);
    const [finding] = await db.sql<Finding>(
      "select * from svc_private.lint_recursive_policy where name = 'p on lab.s'",
    );
    await db.sql("drop table lab.s, lab.f");
    expect(finding?.remedy).toContain(remedy);
  });

  test("nor one of a table whose policies read it", async () => {
    await db.sql(`create table lab.people (id bigint primary key);
      create table lab.s (team bigint, person bigint references lab.people (id));
      alter table lab.people enable row level security; alter table lab.s enable row level security;
      grant select on lab.people to svc_authenticated; grant select, insert on lab.s to svc_authenticated;
      create policy seen on lab.people for select to svc_authenticated using (exists (select from lab.s where person = people.id));
      create policy own on lab.s for insert to svc_authenticated with check (team = 1)`);
    const [finding] = await db.sql<Finding>(
      "select * from svc_private.lint_reference_past_policy where name like '%lab.s'",
    );
    await db.sql("drop table lab.s, lab.people cascade");
    expect(finding?.remedy).toContain("Let the condition of own call a function without security definer");
  });

  test.for([
    ["(select lab.is_staff())", "(select lab.is_staff())", 0],
    ["(select lab.is_staff())", "owner = 'a'", 1], // hides rows from staff
    ["owner = 'a'", "owner = 'a'", 1], // of another table
  ])("who may write by %s and read by %s has %i references past a policy", async ([write, read, expected]) => {
    await db.sql(`create function lab.is_staff() returns boolean language sql as 'select true';
      create table lab.f (id bigint primary key, owner text);
      create table lab.s (f bigint references lab.f (id), owner text);
      alter table lab.f enable row level security; alter table lab.s enable row level security;
      grant select on lab.f to svc_authenticated; grant select, insert on lab.s to svc_authenticated;
      create policy staff on lab.f for select to svc_authenticated using (${read});
      create policy staff on lab.s for all to svc_authenticated using (${write})`);
    const findings = await db.sql("select * from svc_private.lint_reference_past_policy where name like '%lab.s'");
    await db.sql("drop table lab.s, lab.f; drop function lab.is_staff()");
    expect(findings).toHaveLength(expected as number);
  });

  test.for([
    ["(select lab.is_staff())", 0],
    ["note = 'published'", 1], // a draft without an owner disappears
  ])("a row without an owner beside a policy %s has %i findings", async ([other, expected]) => {
    await db.sql(`create function lab.is_staff() returns boolean language sql as 'select true';
      create table lab.s (id bigint primary key, owner text, note text);
      alter table lab.s enable row level security; grant select on lab.s to svc_authenticated;
      create policy own on lab.s for select to svc_authenticated using (owner = (select svc.current_user_id()));
      create policy other on lab.s for select to svc_authenticated using (${other})`);
    const findings = await db.sql("select * from svc_private.lint_dropped_owner_row where name like 'lab.s%'");
    await db.sql("drop table lab.s; drop function lab.is_staff()");
    expect(findings).toHaveLength(expected as number);
  });

  test.for([
    [
      "with check (file is null or svc.owns_object(file))",
      "exists (select from lab.t where t.file = storage_objects.id)",
    ],
    ["with check (owner = 'a' and file is null)", "exists (select from lab.t where t.file = storage_objects.id)"],
    ["with check (owner = 'a')", "exists (select from lab.t where t.other = storage_objects.id)"], // not writable
    ["with check (owner = 'a')", "exists (select from lab.t where t.id = 1 and t.owner = storage_objects.name)"],
  ])("rows written %s may show files if %s", async ([check, shows]) => {
    const findings = () => db.sql("select * from svc_private.lint_unowned_file_shared");
    const before = await findings();
    await db.sql(`create table lab.t (id bigint primary key, owner text, file uuid, other uuid);
      alter table lab.t enable row level security; grant insert (id, owner, file) on lab.t to svc_authenticated;
      create policy p on lab.t for insert to svc_authenticated ${check};
      create policy app_shared on svc.storage_objects for select to svc_authenticated using (${shows})`);
    const found = await findings();
    await db.sql("drop policy app_shared on svc.storage_objects; drop table lab.t");
    expect(found).toEqual(before);
  });

  // Each of them checks the column for updates too, changes it nowhere, or expects only its first value.
  test.for([
    ["using (owner = 'a') with check (lab.may_buy(bought))", "with check (lab.may_buy(bought))", "id, note, bought"],
    ["using (owner = 'a')", "with check (lab.may_buy(bought))", "note"],
    ["using (owner = 'a')", "with check (bought = 1)", "note, bought"],
    ["using (owner = 'a')", "with check (owner = (select lab.may_buy(1)::text))", "note, bought"],
  ])("an update %s beside an insert %s of columns that may change (%s) is fine", async ([update, insert, columns]) => {
    const findings = () => db.sql("select * from svc_private.lint_unchecked_update");
    const before = await findings();
    await db.sql(`create table lab.t (id bigint primary key, owner text, note text, bought bigint);
      alter table lab.t enable row level security;
      create function lab.may_buy(bigint) returns boolean language sql stable as 'select true';
      grant insert, update (${columns}) on lab.t to svc_authenticated;
      create policy p on lab.t for insert to svc_authenticated ${insert};
      create policy q on lab.t for update to svc_authenticated ${update}`);
    const found = await findings();
    await db.sql("drop table lab.t; drop function lab.may_buy");
    expect(found).toEqual(before);
  });

  // A revoked right on one column makes generated update answer 403 to every change, as the statement names all columns.
  test("the remedy of an unchecked update says beside which operation no right may be revoked", async () => {
    await db.sql(`create table lab.t (id bigint primary key, owner text, bought bigint);
      alter table lab.t enable row level security;
      create function lab.may_buy(bigint) returns boolean language sql stable as 'select true';
      grant insert, update on lab.t to svc_authenticated;
      create policy p on lab.t for insert to svc_authenticated with check (lab.may_buy(bought));
      create policy q on lab.t for update to svc_authenticated using (owner = 'a')`);
    const [{ remedy } = { remedy: "" }] = await db.sql<Finding>(
      "select remedy from svc_private.lint_unchecked_update where problem like '%bought%'",
    );
    await db.sql("drop table lab.t; drop function lab.may_buy");
    expect(remedy).toMatch(
      /^Add the condition of p .* Or, without update of createCrud, revoke update \(bought\) on lab\.t/,
    );
  });

  // Users who are told of the rows, and functions that look for the caller among owners alone.
  test.for([
    ["other = (select svc.current_user_id())", "who, other"],
    ["who = (select svc.current_user_id()) and other <> who", "who"],
  ])("a function of a policy that asks for %s beside an identity of id, %s is fine", async ([asks, told]) => {
    const findings = () => db.sql("select * from svc_private.lint_untold_reader");
    const before = await findings();
    await db.sql(`create table lab.b (id bigint primary key, who text not null, other text not null);
      create unique index told on lab.b (id, ${told}); alter table lab.b replica identity using index told;
      create function lab.hidden() returns setof text language sql stable security definer set search_path = ''
        as 'select other from lab.b where ${asks}';
      create table lab.t (id bigint primary key, owner text); alter table lab.t enable row level security;
      create policy p on lab.t for select to svc_authenticated using (not (owner = any (array(select lab.hidden()))))`);
    const found = await findings();
    await db.sql("drop table lab.t; drop function lab.hidden; drop table lab.b");
    expect(found).toEqual(before);
  });

  test("a table is not world-readable if a restrictive policy decides about the same callers", async () => {
    await db.sql(`create table lab.t (id bigint primary key, hidden boolean); alter table lab.t enable row level security;
      grant select on lab.t to svc_anonymous; create policy p on lab.t for select to svc_anonymous using (true)`);
    const findings = () => db.sql("select * from svc_private.lint_world_readable_table where name like '%lab.t'");
    await db.sql("create policy q on lab.t as restrictive for select to svc_authenticated using (not hidden)");
    expect(await findings()).toHaveLength(1);
    await db.sql("create policy r on lab.t as restrictive for select to svc_anonymous using (not hidden)");
    expect(await findings()).toEqual([]);
    await db.sql("drop table lab.t");
  });

  // An insert looks for no row. Its policy refuses a row without an owner, so none disappears.
  test.for(["unindexed_policy_column", "dropped_owner_row"])(
    "%s is silent about a column that only inserts check",
    async (rule) => {
      const findings = () => db.sql(`select * from svc_private.lint_${rule}`);
      const before = await findings();
      await db.sql(`create table lab.t (id bigint primary key, author text);
      alter table lab.t enable row level security;
      create policy p on lab.t for insert to svc_authenticated with check (author = (select svc.current_user_id()))`);
      const found = await findings();
      await db.sql("drop table lab.t");
      expect(found).toEqual(before);
    },
  );

  test("and nothing of it stays", async () => {
    expect(found).toHaveLength(planted.length);
    expect(await lint()).toEqual(before);
  });
});

test("every rule has a planted violation", () => {
  expect([...new Set(planted.map(({ rule }) => rule))].sort()).toEqual(rules.sort());
});

test("the README counts them", () => {
  expect(readFileSync(join(root, "README.md"), "utf8")).toContain(`\`svc db lint\` (${rules.length} rules)`);
});

test("every rule has a paragraph in the reference, which is the one in its file", () => {
  const text = readFileSync(join(root, "docs/reference/lint.md"), "utf8");
  for (const rule of rules) {
    const [head = ""] = readFileSync(join(root, `sql/lint/${rule}.sql`), "utf8").split("\n\n");
    expect(text).toMatch(new RegExp(`### ${rule}\n\n\\*(error|warning|info)( or \\w+)?\\.\\* `));
    expect(text).toContain(`${head.replaceAll(/^-- /gm, "").replaceAll("\n", " ")}\n`);
  }
});

test("a comment with a reason silences one rule on one object, and none without a reason", async () => {
  await db.sql(`create table lab.board (id int primary key); alter table lab.board enable row level security;
    grant select on lab.board to svc_anonymous; create policy everybody on lab.board for select to svc_anonymous using (true)`);
  const found = async () => (await lint()).filter(({ name }) => name.includes("lab.board")).map(({ rule }) => rule);
  expect(await found()).toEqual(["world_readable_table"]);
  await db.sql("comment on policy everybody on lab.board is 'lint:allow world_readable_table'");
  expect(await found()).toEqual(["world_readable_table"]);
  await db.sql("comment on policy everybody on lab.board is 'lint:allow world_readable: a board'");
  expect(await found()).toEqual(["world_readable_table"]);
  await db.sql("comment on policy everybody on lab.board is 'Seen by all. lint:allow world_readable_table: a board.'");
  expect(await found()).toEqual([]);
});
