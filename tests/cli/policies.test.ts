// If this file fails, the command line does not show a DBA who may do what, or shows something untrue.
import { beforeAll, describe, expect, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();
const run = (...args: string[]) => svcHere(db, fixture, args);
let id: string;

beforeAll(async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test')`,
  );
  const [row] = await db.sql("insert into notes (user_id, title) values ('ann', 'hers') returning id");
  id = String(row?.id);
  await db.sql("insert into notes (user_id, title) values ('bob', 'his')");
});

test("svc policies says who may do what to which rows", async () => {
  const { code, out } = await run("policies", "notes");
  expect(code).toBe(0);
  expect(out).toMatch(/^public\.notes$/m);
  expect(out).toMatch(/Visitors without an account may not select\./);
  expect(out).toMatch(/Signed-in users may select rows where\n {4}\(*user_id = \( SELECT svc\.current_user_id\(\)/);
  await db.sql(`
    create policy a_restriction on notes as restrictive for delete to svc_authenticated using (id > 0);
    create policy others on notes for delete to svc_authenticated using (id > 1)`);
  expect((await run("policies", "notes")).out).toMatch(
    /may delete rows where\n {4}\(*user_id = .*\n {4}or \(*id > 1.*\n {4}and in each case \(*id > 0/,
  );
  await db.sql("drop policy a_restriction on notes; drop policy others on notes");
  expect((await run("policies")).out).not.toMatch(/^auth\.user$/m);
  expect((await run("policies", "--all")).out).toMatch(/^svc\.storage_objects$/m);
});

test("svc policies lists a partition only if requests reach it past its table", async () => {
  await db.sql(`create table readings (at int primary key) partition by range (at); grant select on readings to svc_authenticated;
    create table readings_1 partition of readings for values from (1) to (2);
    create table readings_2 partition of readings for values from (2) to (3); grant delete on readings_2 to svc_authenticated`);
  const { out } = await run("policies");
  expect(out.match(/^public\.readings\w*/gm)).toEqual(["public.readings", "public.readings_2"]);
  expect((await run("policies", "readings_1")).out).toMatch(/Signed-in users may not select/);
  await db.sql("drop table readings");
});

test("rls explain takes a name with a dot and quotes", async () => {
  await db.sql(`set local role svc_owner; create table "a.""b" (id int primary key); insert into "a.""b" values (1);
    alter table "a.""b" enable row level security; grant select on "a.""b" to svc_authenticated;
    create policy own on "a.""b" for select to svc_authenticated using ("a.""b".id > 1)`);
  const { text } = await run("rls", "explain", '"a.""b"', "--as", "ann@x.test", "--row", "1");
  expect(text).toMatch(/select {2}hidden\n {4}no {3}own: /);
  await db.sql('drop table "a.""b"');
});

test("rls explain finds a row of a partitioned table by its id", async () => {
  await db.sql(`set local role svc_owner;
    create table readings (id int, device int, at int, primary key (id, at)) partition by range (at);
    create table readings_1 partition of readings for values from (1) to (9); insert into readings values (7, 1, 2), (8, 1, 3), (8, 1, 4);
    alter table readings enable row level security; grant select on readings to svc_authenticated;
    create policy none on readings for select to svc_authenticated using (device > 1)`);
  const said = async (id: string) => (await run("rls", "explain", "readings", "--as", "ann@x.test", "--row", id)).text;
  expect(await said("7")).toMatch(/select {2}hidden\n {4}no {3}none: /);
  expect(await said("8")).toContain("public.readings has several rows 8.");
  await db.sql("drop table readings");
});

test("svc policies says which tables decide about a view, and rls explain counts its rows", async () => {
  await db.sql(`
    create view titles with (security_invoker) as select title from notes;
    create view "Shared" with (security_invoker) as select t.title, g.message from titles t cross join guestbook g;
    create view leaking as select * from notes;
    create view through with (security_invoker) as select * from leaking;
    grant select on titles, "Shared", leaking, through to svc_authenticated;
    grant select on titles to svc_system`);
  const said = async (view: string) => (await run("policies", view)).out;
  expect(await said("titles")).toBe(
    "public.titles  view\n  Visitors without an account may not select.\n" +
      "  Signed-in users may select what the policies of public.notes show.\n",
  );
  expect(await said('"Shared"')).toContain("what the policies of public.guestbook, public.notes show.");
  for (const view of ["leaking", "through"]) {
    expect(await said(view)).toMatch(
      /lacks security_invoker.*\n.*\n {2}Signed-in users may select all that its owner sees/,
    );
  }
  expect((await run("rls", "explain", "titles", "--as", "ann@x.test")).out).toBe(
    "public.titles: user ann sees 1 of 2 rows.\n",
  );
  const row = await run("rls", "explain", "titles", "--as", "ann@x.test", "--row", id);
  expect([row.code, row.text]).toEqual([1, expect.stringContaining("tables beneath it: public.notes.")]);
  await db.sql('drop view through, leaking, "Shared", titles');
});

test("svc policies --functions says what requests may execute, as whom, and why", async () => {
  await db.sql(`create function public.quiet() returns int language sql security definer set search_path = '' as 'select 1';
    revoke execute on function public.quiet() from public; grant execute on function public.quiet() to svc_authenticated`);
  const own = (await run("policies", "--functions")).out;
  expect(own).toMatch(/^svc_crud\.notes_get\(integer\)\n {2}every request, with the caller's rights$/m);
  expect(own).toMatch(
    /^public\.quiet\(\)\n {2}signed-in requests, with the rights of \w+; its comment gives no reason/m,
  );
  expect(own).not.toContain("svc.lock");
  // As the recipes write it.
  await db.sql(
    `comment on function public.quiet() is 'One. lint:allow definer_function_exposed_to_users: it says one to all.'`,
  );
  expect((await run("policies", "--functions")).out).toMatch(/^public\.quiet\(\)\n.*: it says one to all\.$/m);
  const all = (await run("policies", "--functions", "--all")).out;
  expect(all).toMatch(
    /^svc\.lock\(text\)\n {2}every request, with the rights of svc_owner: advisory locks are closed/m,
  );
  expect(all).toMatch(/^auth\.notify_user_change\(\)\n {2}a trigger, with the rights of svc_owner: /m);
  await db.sql("drop function public.quiet()");
});

describe("svc rls explain", () => {
  test("counts what somebody sees", async () => {
    const { out } = await run("rls", "explain", "notes", "--as", "ann@x.test");
    expect(out).toBe("public.notes: user ann sees 1 of 2 rows. Pass --row ID to see why.\n");
    expect((await run("rls", "explain", "notes")).out).toMatch(
      /has no grant to select from public\.notes, which has 2 rows/,
    );
  });

  test("says which policies admit a row, and which hide it", async () => {
    const hers = await run("rls", "explain", "notes", "--as", "ann", "--row", id);
    expect(hers.out).toMatch(/select {2}admitted\n {4}yes {2}\w+: \(user_id = /);
    expect(hers.out).toMatch(/delete {2}admitted/);
    const his = await run("rls", "explain", "notes", "--as", "bob", "--row", id);
    expect(his.out).toMatch(/select {2}hidden\n {4}no {3}\w+: \(user_id = /);
    expect(his.out).not.toMatch(/admitted/);
  });

  test("asks the policies of other tables as the caller, too", async () => {
    await db.sql("insert into memberships (team_id, user_id) values ('blue', 'ann')");
    const [board] = await db.sql("insert into boards (team_id, name) values ('blue', 'plans') returning id");
    const explain = async (who: string) =>
      (await run("rls", "explain", "boards", "--as", who, "--row", String(board?.id))).out;
    expect(await explain("ann")).toMatch(/select {2}admitted/);
    expect(await explain("bob")).toMatch(/select {2}hidden/);
  });

  test("evaluates the policies for an API key, which has less than its user", async () => {
    await db.sql(
      "create policy keys on notes as restrictive for select to svc_authenticated using ((select svc.has_scope('notes:read')))",
    );
    const said = async (...scopes: string[]) =>
      (await run("rls", "explain", "notes", "--as", "ann", ...scopes, "--row", id)).out;
    expect(await said()).toMatch(/for user ann:\n {2}select {2}admitted/);
    expect(await said("--scopes", "other,notes:read")).toMatch(
      /for a key with other, notes:read of user ann:\n {2}select {2}admitted/,
    );
    expect(await said("--scopes", "other")).toMatch(/select {2}hidden\n(.*\n)? {4}no {3}keys: /);
    const { out } = await run("rls", "explain", "notes", "--as", "ann", "--scopes", "");
    expect(out).toMatch(/a key with no scope of user ann sees 0 of 2 rows/);
    await db.sql("drop policy keys on notes");
    const { code, error } = await run("rls", "explain", "notes", "--scopes", "notes:read");
    expect([code, error]).toEqual([1, expect.stringContaining("name the user with --as")]);
  });

  test("says that policies lead back to their own table, and who names them", async () => {
    await db.sql("create policy circle on notes for select to svc_authenticated using (exists (select from notes n))");
    const { code, error } = await run("rls", "explain", "notes", "--as", "ann");
    await db.sql("drop policy circle on notes");
    expect([code, error]).toEqual([1, expect.stringMatching(/infinite recursion .*\n {2}svc db lint names/)]);
  });

  test.for([
    [["nowhere"], /There is no table or view nowhere/],
    [["notes", "--as", "carl"], /There is no user carl/],
    [["notes", "--row", "00000000"], /has no row 00000000 at all/],
  ] as const)("%j says what is wrong", async ([args, says]) => {
    const { code, error } = await run("rls", "explain", ...args);
    expect([code, error]).toEqual([1, expect.stringMatching(says)]);
  });
});
