// If this file fails, an operator does not see who holds a key or belongs to an organization, sees what lets somebody in, or an act
// does something else than it says.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);

interface Row {
  id: string;
  name: string;
}

/** All pages of a list. @param part of the input that says where the next page begins */
async function all<One = Row>(name: string, input: object, part = "before"): Promise<One[][]> {
  const pages: One[][] = [];
  let at: unknown = null;
  do {
    const { rows, next }: { rows: One[]; next: unknown } = await opened.ask(name, { ...input, [part]: at });
    pages.push(rows);
    at = next;
  } while (at !== null);
  return pages;
}
const sizes = (pages: unknown[][]) => pages.map(({ length }) => length);
const count = (from: number, until: number) => Array.from({ length: until - from + 1 }, (_, n) => from + n);

beforeAll(async () => {
  await db.sql(`insert into auth."user" (id, name, email, email_verified)
    select 'u' || n, 'User ' || n, 'u' || n || '@example.com', true from generate_series(1, 130) n`);
  // Of one transaction: the same time, so that only the id tells them apart.
  await db.sql(`insert into auth.api_key (id, user_id, name, start, hash, scopes, expires_at, last_used_at)
    select 'key ' || n, 'u1', 'key <b>' || n, 'acme_live_' || n, sha256(n::text::bytea), '{notes:read}',
           now() + interval '1 day', case when n = 1 then now() end
      from generate_series(1, 120) n`);
  await db.sql(`insert into auth.api_key (id, user_id, name, start, hash, scopes, expires_at)
    values ('of u2', 'u2', 'other', 'acme_live_x', sha256('x'), '{*}', now() - interval '1 day')`);
  await db.sql(
    "insert into svc.organizations (id, name) select 'org' || n, 'Acme ' || n from generate_series(1, 120) n",
  );
  await db.sql("insert into svc.organizations (id, name) values ('Acme 7', 'Zulu'), ('last', $1), ('pc', '100% _x')", [
    "\u{1f9ff}",
  ]);
  await db.sql(`insert into svc.organization_members (org_id, user_id, role)
    select 'org1', 'u' || n, case n when 1 then 'owner' else 'member' end from generate_series(1, 120) n`);
  await db.sql(`insert into svc.organization_members (org_id, user_id, role)
    select 'org' || n, 'u1', 'owner' from generate_series(2, 120) n`);
  await db.sql(`insert into svc.organization_invitations (org_id, email, role, invited_by, state, expires_at)
    select 'org1', 'guest' || n || '@example.com', 'member', 'u1', case when n % 2 = 0 then 'canceled' else 'pending' end,
           now() + case when n = 1 then interval '-1 day' else interval '7 days' end
      from generate_series(1, 60) n`);
});

test("a user's API keys, page by page, without what lets somebody in", async () => {
  const pages = await all<Row & { start: string }>("apiKeys", { of: "u1" });
  expect(sizes(pages)).toEqual([50, 50, 20]);
  expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(120);
  expect(pages.flat().find(({ id }) => id === "key 1")).toEqual({
    id: "key 1",
    name: "key <b>1",
    start: "acme_live_1",
    scopes: ["notes:read"],
    created_at: expect.any(String),
    expires_at: expect.any(String),
    last_used_at: expect.any(String),
  });
  const other = await opened.ask("apiKeys", { of: "u2", before: null });
  expect(other).toMatchObject({ rows: [{ id: "of u2", last_used_at: null }], next: null });
  const keys = (await db.sql<{ hash: string }>("select hash::text from auth.api_key")).map(({ hash }) => hash);
  expect(keys.filter((hash) => JSON.stringify([pages, other]).includes(hash.slice(2)))).toEqual([]);
  expect(await opened.ask("apiKeys", { of: "nobody", before: null })).toEqual({ rows: [], next: null });
});

test("organizations by name or id, page by page; each character is one of the name", async () => {
  const names = async (search: string) =>
    (await all("organizations", { search }, "after")).flat().map(({ name }) => name);
  expect(sizes(await all("organizations", { search: "acme" }, "after"))).toEqual([50, 50, 20]);
  expect(new Set(await names("")).size).toBe(123);
  expect(await names("ACME 11")).toEqual(["Acme 11", ...count(110, 119).map((n) => `Acme ${n}`)]);
  expect(await names("Acme 7")).toEqual(["Zulu", "Acme 7", ...count(70, 79).map((n) => `Acme ${n}`)]);
  expect(await names("org5")).toEqual(["Acme 5"]);
  expect(await names("%")).toEqual([]);
  expect(await names("100% _")).toEqual(["100% _x"]);
  expect((await names("")).at(-1)).toBe("\u{1f9ff}");
  expect(await opened.ask("organization", { id: "org3" })).toMatchObject({ id: "org3", name: "Acme 3" });
  expect((await opened.send("organization", { id: "Acme" })).status).toBe(404);
  expect(await opened.ask("people", { search: "u1@", after: null })).toMatchObject({ hasOrganizations: true });
});

test("members with their roles, and invitations with their states, page by page; a user's organizations", async () => {
  const members = await all<Row & { role: string; email: string }>("members", { of: "org1" });
  expect(sizes(members)).toEqual([50, 50, 20]);
  expect(new Set(members.flat().map(({ id }) => id)).size).toBe(120);
  expect(members.flat().filter(({ role }) => role === "owner")).toMatchObject([{ email: "u1@example.com" }]);
  const invitations = (await all<Row & { state: string }>("invitations", { of: "org1" })).flat();
  const are = (wanted: string) => invitations.filter(({ state }) => state === wanted).length;
  expect([are("pending"), are("canceled"), are("expired")]).toEqual([29, 30, 1]);
  expect(sizes(await all("memberships", { of: "u1" }, "after"))).toEqual([50, 50, 20]);
  expect(await all("memberships", { of: "u120" }, "after")).toMatchObject([[{ org_name: "Acme 1", role: "member" }]]);
});

test.each([
  ["apiKeys", { of: "u1", before: "x" }],
  ["apiKeys", { of: "u1", before: "2026-01-01T00:00:00+00:00' or true -- x" }],
  ["members", { of: "org1", before: "2026-01-01T00:00:00Z no-uuid" }],
  ["organizations", { search: "", after: { name: "x" } }],
  ["memberships", { of: "", after: null }],
])("%s refuses %j", async (name, input) => {
  expect((await opened.send(name, input)).status).toBe(400);
});

test("a look-up of organizations reads the rows of its page, among many", async () => {
  await db.sql(
    `insert into svc.organizations (id, name) select 'more' || n, 'Aaa ' || n from generate_series(1, 20000) n`,
  );
  await db.sql("analyze svc.organizations");
  const client = await db.connect("admin");
  await client.query("begin");
  for (const search of ["zulu", "acme 1", "more7"]) {
    const { rows } = await client.query("select * from svc_private.studio_organizations($1, null, null, 51)", [search]);
    expect(rows.length).toBeGreaterThan(0);
  }
  const { rows } = await client.query(
    `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_all_tables
      where relid = 'svc.organizations'::regclass`,
  );
  expect(rows[0].read).toBeLessThan(200);
  await client.query("rollback");
});

test("users by id or the beginning of their address, page by page; the one with the id is first", async () => {
  const page = async (search: string, after: string | null = null) => {
    const { people, next }: { people: Row[]; next: string | null } = await opened.ask("people", { search, after });
    return { ids: people.map(({ id }) => id), next };
  };
  const first = await page("U1");
  expect(first.ids).toHaveLength(42);
  const whole = await page("u");
  const rest = await page("u", whole.next);
  expect([whole.ids.length, rest.ids.length]).toEqual([50, 50]);
  expect(new Set([...whole.ids, ...rest.ids]).size).toBe(100);
  expect((await page("u9")).ids).toEqual(["u9", ...count(90, 99).map((n) => `u${n}`)]);
  expect((await page("u9%")).ids).toEqual([]);
  // Fifty addresses that begin as this id do not hide its user.
  await db.sql(`insert into auth."user" (id, name, email) values ('u', 'By id', 'z@example.com')`);
  expect((await page("u")).ids[0]).toBe("u");
  expect((await opened.ask("person", { id: "u" })).person.email).toBe("z@example.com");
  expect((await opened.ask("users", { search: "u" }))[0].id).toBe("u");
  await db.sql(`delete from auth."user" where id = 'u'`);
});

test("a look-up of users reads the rows of its page, among many", async () => {
  await db.sql(`insert into auth."user" (id, name, email)
    select 'more' || n, 'More', 'aaa' || n || '@example.com' from generate_series(1, 20000) n`);
  await db.sql(`analyze auth."user"`);
  const client = await db.connect("admin");
  await client.query("begin");
  for (const [search, next] of [
    ["u9", null],
    ["aaa7", "aaa71@example.com"],
    ["", null],
    ["more7", null],
    ["nobody", null],
  ]) {
    await client.query("select * from svc_private.studio_people($1, $2, 51)", [search, next]);
    await client.query("select * from svc_private.studio_users($1, 20)", [search]);
  }
  const { rows } = await client.query(
    `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_all_tables
      where relid = 'auth."user"'::regclass`,
  );
  expect(rows[0].read).toBeLessThan(400);
  await client.query("rollback");
});

describe("acts", () => {
  const act = (name: string, input: object) => opened.send("act", { act: name, ...input });

  test("the last owner is not removed, and nothing is noted; another owner makes room", async () => {
    const owner = { organization: "org1", user: "u1" };
    const refused = await act("act_remove_member", owner);
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining("needs an owner")]);
    expect(await db.sql("select 1 from svc.operator_acts")).toEqual([]);
    const made = { organization: "org1", user: "u2" };
    expect((await act("act_make_owner", made)).status).toBe(200);
    expect(await db.sql("select act, arguments, outcome from svc.operator_acts")).toEqual([
      { act: "act_make_owner", arguments: made, outcome: "made an owner" },
    ]);
    expect((await act("act_remove_member", owner)).status).toBe(200);
    // What the removed person has sent is canceled, as when a colleague removes somebody.
    const sent = "select 1 from svc.organization_invitations where state = 'pending' and invited_by = 'u1'";
    expect(await db.sql(sent)).toEqual([]);
  });

  test("an act on an organization does not reach another one, or somebody who is no member", async () => {
    for (const name of ["act_remove_member", "act_make_owner"]) {
      expect((await act(name, { organization: "org2", user: "u2" })).status).toBe(409);
      expect((await act(name, { organization: "none", user: "u1" })).status).toBe(409);
    }
    const members = "select user_id, role from svc.organization_members where org_id = 'org2'";
    expect(await db.sql(members)).toEqual([{ user_id: "u1", role: "owner" }]);
  });

  test("an invitation that has expired is not canceled", async () => {
    const [invitation] =
      await db.sql(`insert into svc.organization_invitations (org_id, email, role, invited_by, expires_at)
      values ('org1', 'late@example.com', 'member', 'u2', now()) returning id`);
    expect((await act("act_cancel_invitation", { invitation: invitation?.id })).status).toBe(409);
    expect(await db.sql("select state from svc.organization_invitations where id = $1", [invitation?.id])).toEqual([
      { state: "pending" },
    ]);
  });

  test("a revoked key is gone, and those of others stay", async () => {
    expect((await act("act_revoke_api_keys", { key: "key 5", user: "u1" })).status).toBe(200);
    expect((await act("act_revoke_api_keys", { key: null, user: null })).status).toBe(409);
    expect(await db.sql("select count(*)::int from auth.api_key")).toEqual([{ count: 120 }]);
    expect((await act("act_revoke_api_keys", { key: null, user: "u1" })).body).toEqual({ done: 119 });
    expect(await db.sql("select id from auth.api_key")).toEqual([{ id: "of u2" }]);
  });
});

test("Studio had no error of its own", () => {
  expect(opened.failures).toEqual([]);
});
