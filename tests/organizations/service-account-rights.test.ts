// If this file fails, somebody manages the programs of an organization without the right to, a program manages people, or a
// person who leaves takes the programs along. Policies and triggers decide alone.
import { beforeAll, expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";
import { until } from "../support/worker.ts";
import { type Person, people } from "./people.ts";

const db = database("platform");
const { users, begin, run, outcome, found, add, invite, invited, accept, members } = people(db);

const roles = ["owner", "admin", "editor", "member", "stranger", "nobody", "ownerKey", "wholeKey", "service"] as const;
type Role = (typeof roles)[number];
let org: string;
let bot: string;
let everybody: Record<Role, Person | null>;

const made = async (by: Person, orgId: string, role = "editor", name = "Bot"): Promise<string> => {
  const rows = await run(by, "select svc.create_service_account($1, $2, $3) as id", [orgId, name, role]);
  if (typeof rows === "string") throw new Error(rows);
  return rows[0]?.id;
};
const withKey = (who: Person, scopes: string): Person => ({ ...who, id: `${who.id}\tkey\t${scopes}` });
/** A service account, as a key with all scopes acts. */
const asService = (id: string, scopes = "*"): Person => withKey({ id, email: "" }, scopes);

beforeAll(async () => {
  const [owner, admin, editor, member, stranger] = (await users("owner", "admin", "editor", "member", "stranger")) as [
    Person,
    Person,
    Person,
    Person,
    Person,
  ];
  org = await found(owner);
  await add(org, admin, "admin");
  await add(org, editor, "editor");
  await add(org, member);
  await found(stranger, "Elsewhere");
  bot = await made(owner, org);
  await db.sql(
    `insert into auth.api_key (id, user_id, name, start, hash, scopes, expires_at)
     values ('of-bot', $1, 'k', 'acme_', sha256('of bot'), '{x}', now() + '1 day'::interval)`,
    [bot],
  );
  const chief = await made(owner, org, "admin", "Chief");
  const [ownerKey, wholeKey] = [withKey(owner, "tickets:write"), withKey(owner, "*")];
  everybody = { owner, admin, editor, member, stranger, nobody: null, ownerKey, wholeKey, service: asService(chief) };
});

type Statement = [text: string, values: () => unknown[]];
const creates = (role: string): Statement => [
  "insert into svc.service_accounts (org_id, name, role) values ($1, 'New', $2)",
  () => [org, role],
];
const ofBot = "where id = $1";

// The rows that each role affects, "-" where PostgreSQL refuses the statement.
// biome-ignore format: a table
const matrix: [what: string, Statement, string][] = [
  //                                            owner admin editor member stranger nobody ownerKey wholeKey service
  ["sees it", [`select from svc.service_accounts ${ofBot}`, () => [bot]], "1 1 0 0 0 - 0 1 0"],
  ["sees it as a member", ["select from svc.organization_members where user_id = $1", () => [bot]], "1 1 1 1 0 - 0 1 1"],
  ["creates one", creates("editor"), "1 1 - - - - - 1 -"],
  ["creates an admin", creates("admin"), "1 1 - - - - - 1 -"],
  ["creates an owner", creates("owner"), "- - - - - - - - -"],
  ["creates one without a role", ["insert into svc.service_accounts (org_id, name) values ($1, 'x')", () => [org]], "- - - - - - - - -"],
  ["chooses its id", ["insert into svc.service_accounts (id, org_id, name, role) values ('x', $1, 'x', 'member')", () => [org]], "- - - - - - - - -"],
  ["renames it", [`update svc.service_accounts set name = 'New' ${ofBot}`, () => [bot]], "1 1 0 0 0 - 0 1 0"],
  ["moves it", [`update svc.service_accounts set org_id = 'x' ${ofBot}`, () => [bot]], "- - - - - - - - -"],
  ["sets the role past the membership", [`update svc.service_accounts set role = 'admin' ${ofBot}`, () => [bot]], "- - - - - - - - -"],
  ["deletes its row", [`delete from svc.service_accounts ${ofBot}`, () => [bot]], "- - - - - - - - -"],
  ["changes its role", ["update svc.organization_members set role = 'admin' where user_id = $1", () => [bot]], "1 1 0 0 0 - 0 1 -"],
  ["makes it an owner", ["update svc.organization_members set role = 'owner' where user_id = $1", () => [bot]], "AP403 AP403 0 0 0 - 0 AP403 AP403"],
  ["removes it", ["delete from svc.organization_members where user_id = $1", () => [bot]], "1 1 0 0 0 - 0 1 0"],
  ["lists its keys", ["select from svc.service_account_keys($1)", () => [bot]], "1 1 0 0 0 - 0 1 0"],
  ["revokes its key", ["select where svc.remove_service_account_key($1, 'of-bot')", () => [bot]], "1 1 0 0 0 - 0 1 0"],
  ["revokes a key of a person", ["select where svc.remove_service_account_key($1, 'of-bot')", () => [everybody.owner?.id]], "0 0 0 0 0 - 0 0 0"],
  ["makes a key without a session", ["select from svc.add_service_account_key('none', $1, 'x', 'x', sha256('x'), '{x}', '1 day', 9) where refused = 'ended'", () => [bot]], "1 1 0 0 0 - 0 1 0"],
  ["calls what is behind it", ["select svc_private.delete_service_account_key($1, 'x')", () => [bot]], "- - - - - - - - -"],
  ["renames the organization", ["update svc.organizations set name = 'New' where id = $1", () => [org]], "1 1 0 0 0 - 0 1 -"],
  ["deletes the organization", ["delete from svc.organizations where id = $1", () => [org]], "1 0 0 0 0 - 0 1 0"],
  ["leaves", ["delete from svc.organization_members where user_id = (select svc.current_user_id()) and role <> 'owner'", () => []], "0 1 1 1 0 - 0 0 0"],
  ["invites", ["insert into svc.organization_invitations (org_id, email, role) values ($1, 'new@example.com', 'member')", () => [org]], "1 1 - - - - - 1 -"],
  ["founds an organization", ["select svc.create_organization('x')", () => []], "1 1 1 1 1 - - 1 -"],
];

test.for(matrix)("who %s", async ([, [text, values], expected]) => {
  const client = await db.connect("request");
  const got: (string | number)[] = [];
  for (const role of roles) {
    const who = everybody[role];
    await client.query("begin");
    const request = who ? "svc_authenticated" : "svc_anonymous";
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [
      who?.id ?? "",
      request,
    ]);
    got.push(
      await client.query(text, values()).then(
        ({ rowCount }) => rowCount ?? 0,
        ({ code }) => (code === "42501" ? "-" : code),
      ),
    );
    await client.query("rollback");
  }
  expect(got.join(" ")).toBe(expected);
});

test("it is a member with a role, and acts as service", async () => {
  const [ann] = (await users("ann")) as [Person];
  const acme = await found(ann);
  const id = await made(ann, acme, "editor", "  Importer ");
  const said = `select svc.current_actor() as actor, svc.is_service(svc.current_user_id()) as is_service,
    array(select svc.my_orgs('editor')) as edits, array(select svc.my_orgs('owner', 'admin')) as manages,
    svc.has_scope('tickets:read') as reads, svc.has_scope('*') as everything`;
  expect(await run(asService(id, "tickets:read"), said)).toEqual([
    { actor: "service", is_service: true, edits: [acme], manages: [], reads: true, everything: false },
  ]);
  expect(await run(ann, said)).toMatchObject([{ actor: "user", is_service: false }]);
  expect(await run(withKey(ann, "tickets:read"), said)).toMatchObject([{ actor: "key", is_service: false }]);
  expect(await db.sql("select name, role, created_by from svc.service_accounts where id = $1", [id])).toEqual([
    { name: "Importer", role: "editor", created_by: ann.id },
  ]);
  await run(ann, "update svc.service_accounts set name = 'Exporter' where id = $1", [id]);
  const names = `select u.name, m.name as member from auth."user" u join svc.organization_members m on m.user_id = u.id where u.id = $1`;
  expect(await db.sql(names, [id])).toEqual([{ name: "Exporter", member: "Exporter" }]);
  await db.sql(`update auth."user" set name = 'Courier' where id = $1`, [id]);
  expect(await db.sql("select name from svc.service_accounts where id = $1", [id])).toEqual([{ name: "Courier" }]);
});

test("it has no session, no password and no provider, whatever inserts them, and owns no organization", async () => {
  const [bea] = (await users("bea")) as [Person];
  const mill = await found(bea);
  const id = await made(bea, mill);
  const auth = await db.connect("auth");
  for (const text of [
    "insert into auth.session (id, user_id, token, expires_at) values ('s', $1, 't', now() + '1 day'::interval)",
    "insert into auth.account (id, user_id, provider_id, account_id, password) values ('a', $1, 'credential', $1, 'x')",
    "insert into auth.account (id, user_id, provider_id, account_id) values ('b', $1, 'google', '1')",
  ]) {
    await expect(auth.query(text, [id])).rejects.toThrow("A service account cannot sign in.");
  }
  await expect(db.sql("update svc.organization_members set role = 'owner' where user_id = $1", [id])).rejects.toThrow(
    "A service account cannot own an organization.",
  );
});

test("neither its address nor another one lets it accept an invitation", async () => {
  const [cat] = (await users("cat")) as [Person];
  const yard = await found(cat);
  const id = await made(cat, yard);
  const [{ email } = { email: "" }] = await db.sql<{ email: string }>(
    `update auth."user" set email_verified = true where id = $1 returning email`,
    [id],
  );
  expect(email).toBe(`${id}@service.invalid`);
  const other = await found(cat, "Other");
  const invitation = await invited(cat, other, email, "owner");
  await expect(accept({ ...asService(id), email }, invitation)).rejects.toThrow("42501");
  await expect(accept({ id, email }, invitation)).rejects.toThrow("42501"); // a job of it
  expect(await invite(cat, yard, email)).toBe("AP409");
});

test("it stays when the person who created it leaves, or deletes the account", async () => {
  const [dan, eve] = (await users("dan", "eve")) as [Person, Person];
  const shop = await found(dan, "Shop");
  await add(shop, eve, "admin");
  const [ofEve, other] = [await made(eve, shop), await made(eve, shop)];
  await run(eve, "delete from svc.organization_members where user_id = $1", [eve.id]);
  expect(await run(eve, "select from svc.service_accounts")).toEqual([]);
  await db.sql('delete from auth."user" where id = $1', [eve.id]);
  expect(await run(dan, "select created_by from svc.service_accounts where id = any ($1)", [[ofEve, other]])).toEqual([
    { created_by: eve.id },
    { created_by: eve.id },
  ]);
  expect(Object.values(await members(shop)).sort()).toContain("editor");
});

test("a removed one has no keys, keeps its rows, and is named to owners; with its organization all of it goes", async () => {
  const [fay] = (await users("fay")) as [Person];
  const dock = await found(fay, "Dock");
  const id = await made(fay, dock, "member", "Crane");
  await db.sql(
    `insert into auth.api_key (user_id, name, start, hash, scopes, expires_at)
     values ($1, 'k', 'acme_', sha256('of crane'), '{x}', now() + '1 day'::interval)`,
    [id],
  );
  const keys = "select name from svc.service_account_keys($1)";
  expect(await run(fay, keys, [id])).toEqual([{ name: "k" }]);
  expect(await run(fay, "delete from svc.organization_members where user_id = $1 returning 1 as gone", [id])).toEqual([
    { gone: 1 },
  ]);
  expect(await run(fay, keys, [id])).toEqual([]);
  expect(await run(asService(id), "select array(select svc.my_orgs()) as orgs")).toEqual([{ orgs: [] }]);
  expect(await run(fay, "select name, role from svc.service_accounts where id = $1", [id])).toEqual([
    { name: "Crane", role: null },
  ]);
  const live = await made(fay, dock);
  expect(await run(fay, "delete from svc.organizations where id = $1 returning 1 as gone", [dock])).toEqual([
    { gone: 1 },
  ]);
  expect(await db.sql('select from auth."user" where id = any ($1)', [[id, live]])).toEqual([]);
});

test("an organization has 20, and a person creates 20 a day, also in organizations that are deleted meanwhile", async () => {
  const [gil, hal] = (await users("gil", "hal")) as [Person, Person];
  const pier = await found(gil, "Pier");
  await add(pier, hal, "admin");
  const many = (count: number) =>
    `select svc.create_service_account($1, 'Bot ' || n, 'member') from generate_series(1, ${count}) n`;
  expect(await run(gil, many(19), [pier])).toHaveLength(19);
  expect(await run(hal, many(2), [pier])).toBe("AP409");
  expect(await run(hal, many(1), [pier])).toHaveLength(1);
  const quay = await found(gil, "Quay");
  expect(await run(gil, many(2), [quay])).toBe("AP429");
  expect(await run(gil, many(1), [quay])).toHaveLength(1);
  await run(gil, "delete from svc.organizations where id = $1", [quay]);
  const bay = await found(gil, "Bay");
  expect(await run(gil, many(1), [bay])).toBe("AP429");
  // The system has no limits, and a removed one makes room.
  await db.sql("insert into svc.service_accounts (org_id, name, role) values ($1, 'Of the system', 'member')", [pier]);
  await db.sql("delete from svc.organization_members where org_id = $1 and user_id like 'service%'", [pier]);
  expect(await run(hal, many(1), [pier])).toHaveLength(1);
});

test("an operator, or the plugin admin, deletes an account with all that it owns", async () => {
  const [ida] = (await users("ida")) as [Person];
  const farm = await found(ida, "Farm");
  const [live, removed] = [await made(ida, farm), await made(ida, farm)];
  await run(ida, "delete from svc.organization_members where user_id = $1", [removed]);
  for (const id of [live, removed]) {
    const auth = await db.connect("auth");
    expect((await auth.query('delete from auth."user" where id = $1', [id])).rowCount).toBe(1);
    expect(await db.sql("select from svc.service_accounts where id = $1", [id])).toEqual([]);
  }
  expect(await members(farm)).toEqual({ ida: "owner" });
});

test("an id that only begins so is that of a person", async () => {
  const ids = ["service_", "service_desk", "service_1", "Service_00000000-0000-0000-0000-000000000000"];
  for (const id of ids) {
    expect(await db.sql("select svc.is_service($1) as is", [id])).toEqual([{ is: false }]);
    await db.sql(`insert into auth."user" (id, name, email) values ($1, 'x', lower($1) || '@x.test')`, [id]);
    await db.sql(
      "insert into auth.session (id, user_id, token, expires_at) values ($1, $1, $1, now() + '1 day'::interval)",
      [id],
    );
  }
});

test("two who create the last place at once make one account", async () => {
  const [jo, kim] = (await users("jo", "kim")) as [Person, Person];
  const mine = await found(jo, "Mine");
  await add(mine, kim, "owner");
  await db.sql(
    "insert into svc.service_accounts (org_id, name, role) select $1, 'Bot', 'member' from generate_series(1, 19)",
    [mine],
  );
  const creating = "select svc.create_service_account($1, 'Last', 'member')";
  const [one, two] = [await begin(jo), await begin(kim)];
  await one.query(creating, [mine]);
  const late = outcome(two, creating, [mine]);
  await until(async () => (await db.sql(waitsForLock)).length === 1);
  await outcome(one, "select");
  expect(await late).toBe("AP409");
});
