// If this file fails, `svc db lint` reports what no caller can do, or is silent since some other caller cannot do it.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
beforeAll(() =>
  db.sql(`create schema lab authorization svc_owner; grant usage on schema lab to svc_authenticated;
    create table lab.a (id bigint primary key, owner text); alter table lab.a enable row level security;
    create policy own on lab.a for select to svc_authenticated using (owner = (select svc.current_user_id()));`),
);

/** Rules with findings about a row that may name rows and files of others. */
async function found(policies: string, shows = ""): Promise<string[]> {
  await db.sql(`create table lab.t (id bigint primary key, owner text, parent bigint references lab.a (id), file uuid);
    alter table lab.t enable row level security; grant select, insert, update on lab.t to svc_authenticated;
    create policy app_shared on svc.storage_objects for select to svc_authenticated
      using (exists (select from lab.t where t.file = storage_objects.id)); ${policies} ${shows}`);
  const rows = await db.sql<{ rule: string }>(`
    select 'reference_past_policy' as rule from svc_private.lint_reference_past_policy where name like '%lab.t'
    union all select 'unowned_file_shared' from svc_private.lint_unowned_file_shared where name like '%lab.t'`);
  await db.sql("drop policy app_shared on svc.storage_objects; drop policy if exists app_none on svc.storage_objects");
  await db.sql("drop table lab.t");
  return rows.map(({ rule }) => rule);
}
const both = ["reference_past_policy", "unowned_file_shared"];
const policy = (name: string, command: string, condition: string, role = "svc_authenticated") =>
  `create policy ${name} on lab.t ${name === "own" ? "" : "as restrictive"} for ${command} to ${role} ${condition};`;
const own = policy("own", "all", "using (owner = 'a')");

describe("a table in which callers cannot write is fine:", () => {
  test.for([
    ["a restrictive policy refuses all", own + policy("none", "all", "using (false)")],
    [
      "one refuses inserts, another updates",
      own + policy("n", "insert", "with check (false)") + policy("m", "update", "using (false)"),
    ],
    ["both are refused by the check", own + policy("none", "all", "using (true) with check (false)")],
    ["for everybody", own + policy("none", "all", "using (false)", "public")],
    ["the only policy allows nothing", policy("own", "insert", "with check (false)")],
    ["the only policy finds no row to update", policy("own", "update", "using (false) with check (true)")],
  ] as const)("%s", async ([, policies]) => {
    expect(await found(policies)).toEqual([]);
  });
});

describe("it is reported if", () => {
  test.for([
    ["nothing is refused", own],
    ["only inserts are refused", own + policy("none", "insert", "with check (false)")],
    ["only updates are refused", own + policy("none", "update", "using (false)")],
    ["rows are not found, but made", own + policy("none", "all", "using (false) with check (true)")],
    ["only deletions are refused", own + policy("none", "delete", "using (false)")],
    ["other callers are refused", own + policy("none", "all", "using (false)", "svc_anonymous")],
    ["a condition mentions false", own + policy("none", "all", "using (owner <> 'false')")],
  ] as const)("%s", async ([, policies]) => {
    expect((await found(policies)).sort()).toEqual(both);
  });
});

test("a file is not shared where a restrictive policy hides it from the readers", async () => {
  const none = (role: string) =>
    `create policy app_none on svc.storage_objects as restrictive for select to ${role} using (false);`;
  expect(await found(own, none("svc_authenticated"))).toEqual(["reference_past_policy"]);
  expect((await found(own, none("svc_anonymous"))).sort()).toEqual(both);
});

test("a restrictive policy about the referenced row counts for the callers that it applies to", async () => {
  const seen = (role: string) =>
    policy("seen", "all", "using (exists (select from lab.a where a.id = t.parent))", role);
  expect(await found(own + seen("svc_authenticated"))).toEqual(["unowned_file_shared"]);
  expect((await found(own + seen("svc_anonymous"))).sort()).toEqual(both);
});
