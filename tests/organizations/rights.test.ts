// If this file fails, somebody reads or changes an organization, its members or its invitations without the right to, or
// cannot although the rules say so. Policies and triggers decide alone: the statements are those of any handler.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { type Person, people } from "./people.ts";

const db = database("platform");
const { users, run, found, add, invite, invited, accept, members } = people(db);

const roles = ["owner", "admin", "editor", "member", "stranger", "nobody"] as const;
type Role = (typeof roles)[number];
let org: string;
let everybody: Record<Role, Person | null>;
/** The members that statements change: an owner, an admin and a member, so that no caller acts on itself. */
let others: { owner: Person; admin: Person; member: Person };
beforeAll(async () => {
  const [owner, admin, editor, member, stranger] = (await users("owner", "admin", "editor", "member", "stranger")) as [
    Person,
    Person,
    Person,
    Person,
    Person,
  ];
  const [anotherOwner, anotherAdmin, anotherMember] = (await users("boss", "chief", "hand")) as [
    Person,
    Person,
    Person,
  ];
  others = { owner: anotherOwner, admin: anotherAdmin, member: anotherMember };
  everybody = { owner, admin, editor, member, stranger, nobody: null };
  org = await found(owner);
  await add(org, admin, "admin");
  await add(org, editor, "editor");
  await add(org, member);
  await add(org, others.owner, "owner");
  await add(org, others.admin, "admin");
  await add(org, others.member);
  await found(stranger, "Elsewhere");
  await invited(owner, org, "guest@example.com");
});

const ofOrg = "where org_id = $1";
const setRole = (of: keyof typeof others, role: string): Statement => [
  `update svc.organization_members set role = '${role}' where org_id = $1 and user_id = $2`,
  () => [org, others[of].id],
];
const removes = (of: keyof typeof others): Statement => [
  "delete from svc.organization_members where org_id = $1 and user_id = $2",
  () => [org, others[of].id],
];
const invites = (role: string): Statement => [
  "insert into svc.organization_invitations (org_id, email, role) values ($1, 'new@example.com', $2)",
  () => [org, role],
];
type Statement = [text: string, values: () => unknown[]];

// The rows that each role affects, "-" where PostgreSQL refuses the statement.
// biome-ignore format: a table
const matrix: [what: string, Statement, string][] = [
  //                                                                    owner admin editor member stranger nobody
  ["sees the organization", ["select from svc.organizations where id = $1", () => [org]], "1 1 1 1 0 -"],
  ["sees the members", [`select from svc.organization_members ${ofOrg}`, () => [org]], "7 7 7 7 0 -"],
  ["sees the invitations", [`select from svc.organization_invitations ${ofOrg}`, () => [org]], "1 1 0 0 0 -"],
  ["renames it", ["update svc.organizations set name = 'New' where id = $1", () => [org]], "1 1 0 0 0 -"],
  ["changes its id", ["update svc.organizations set id = 'x' where id = $1", () => [org]], "- - - - - -"],
  ["deletes it", ["delete from svc.organizations where id = $1", () => [org]], "1 0 0 0 0 -"],
  ["makes one without a member", ["insert into svc.organizations (name) values ('x')", () => []], "- - - - - -"],
  ["adds a member", ["insert into svc.organization_members (org_id, user_id, role) values ($1, 'owner-1', 'owner')", () => [org]], "- - - - - -"],
  ["makes a member an admin", setRole("member", "admin"), "1 1 0 0 0 -"],
  ["makes a member an owner", setRole("member", "owner"), "1 - 0 0 0 -"],
  ["makes an admin a member", setRole("admin", "member"), "1 1 0 0 0 -"],
  ["makes an owner a member", setRole("owner", "member"), "1 0 0 0 0 -"],
  ["moves a member to another organization", ["update svc.organization_members set org_id = 'x'", () => []], "- - - - - -"],
  ["removes a member", removes("member"), "1 1 0 0 0 -"],
  ["removes an admin", removes("admin"), "1 1 0 0 0 -"],
  ["removes an owner", removes("owner"), "1 0 0 0 0 -"],
  ["invites a member", invites("member"), "1 1 - - - -"],
  ["invites an admin", invites("admin"), "1 1 - - - -"],
  ["invites an owner", invites("owner"), "1 - - - - -"],
  ["invites to nowhere", ["insert into svc.organization_invitations (org_id, email, role) values ('x', 'new@example.com', 'member')", () => []], "- - - - - -"],
  ["cancels an invitation", [`update svc.organization_invitations set state = 'canceled' ${ofOrg}`, () => [org]], "1 1 0 0 0 -"],
  ["rejects for the invited", [`update svc.organization_invitations set state = 'rejected' ${ofOrg}`, () => [org]], "- - 0 0 0 -"],
  ["accepts for the invited", [`update svc.organization_invitations set state = 'accepted' ${ofOrg}`, () => [org]], "- - 0 0 0 -"],
  ["extends an invitation", ["update svc.organization_invitations set expires_at = 'infinity'", () => []], "- - - - - -"],
  ["deletes an invitation", ["delete from svc.organization_invitations", () => []], "- - - - - -"],
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

test("everybody may leave, and joins with the role of the invitation and a copy of name and address", async () => {
  const [ann, bob] = (await users("ann", "bob")) as [Person, Person];
  const acme = await found(ann);
  expect(await accept(bob, await invited(ann, acme, ` ${bob.email.toUpperCase()} `, "editor"))).toBe(acme);
  expect(await run(bob, "select name, email, role from svc.organization_members where user_id = $1", [bob.id])).toEqual(
    [{ name: bob.id, email: bob.email, role: "editor" }],
  );
  await db.sql(`update auth."user" set name = 'Robert' where id = $1`, [bob.id]);
  expect(await run(ann, "select name from svc.organization_members where user_id = $1", [bob.id])).toEqual([
    { name: "Robert" },
  ]);
  await run(bob, "delete from svc.organization_members where user_id = $1", [bob.id]);
  expect(await members(acme)).toEqual({ ann: "owner" });
  expect(await run(bob, "select from svc.organizations")).toEqual([]);
});

test("svc.my_orgs() names the caller's organizations alone, by role", async () => {
  const [cat, dan] = (await users("cat", "dan")) as [Person, Person];
  const [first, second] = [await found(cat, "First"), await found(dan, "Second")];
  await add(second, cat, "editor");
  const of = async (who: Person, ...given: string[]) => {
    const text = `select array(select svc.my_orgs(${given.map((role) => `'${role}'`).join(", ")}) order by 1) as orgs`;
    return ((await run(who, text)) as { orgs: string[] }[])[0]?.orgs;
  };
  expect(await of(cat)).toEqual([first, second].sort());
  expect(await of(cat, "owner")).toEqual([first]);
  expect(await of(cat, "admin", "editor")).toEqual([second]);
  expect(await of(cat, "admin")).toEqual([]);
  expect(await of(dan)).toEqual([second]);
  expect(await run(null, "select svc.my_orgs()")).toBe("42501");
});

describe("an invitation", () => {
  test("counts for its verified address alone, and tells strangers nothing", async () => {
    const [eve, fay, gil] = (await users("eve", "fay", "gil")) as [Person, Person, Person];
    await db.sql('update auth."user" set email_verified = false where id = $1', [gil.id]);
    const mill = await found(eve, "Mill");
    const [ofFay, ofGil] = [await invited(eve, mill, fay.email), await invited(eve, mill, gil.email)];
    expect([await accept(gil, ofFay), await accept(gil, ofGil), await accept(gil, crypto.randomUUID())]).toEqual([
      null,
      null,
      null,
    ]);
    const seen = "select org_name, role from svc.organization_invitations";
    expect([await run(fay, seen), await run(gil, seen)]).toEqual([[{ org_name: "Mill", role: "member" }], []]);
    expect(await accept(fay, ofFay)).toBe(mill);
    expect(await accept(fay, ofFay)).toBe(null);
  });

  test("ends when it is rejected, canceled or old, and then the address may be invited again", async () => {
    const [hal, ida] = (await users("hal", "ida")) as [Person, Person];
    const shop = await found(hal, "Shop");
    const end = (who: Person, state: string, id: string) =>
      run(who, "update svc.organization_invitations set state = $1 where id = $2 returning state", [state, id]);
    const first = await invited(hal, shop, ida.email);
    expect(await invite(hal, shop, ida.email)).toBe("23505");
    expect(await end(ida, "canceled", first)).toBe("42501");
    expect(await end(ida, "rejected", first)).toEqual([{ state: "rejected" }]);
    expect(await end(ida, "rejected", first)).toEqual([]);
    const second = await invited(hal, shop, ida.email);
    expect(await end(hal, "canceled", second)).toEqual([{ state: "canceled" }]);
    const third = await invited(hal, shop, ida.email);
    await db.sql("update svc.organization_invitations set expires_at = now() where id = $1", [third]);
    expect([await accept(ida, first), await accept(ida, second), await accept(ida, third)]).toEqual([null, null, null]);
    expect(await accept(ida, await invited(hal, shop, ida.email))).toBe(shop);
    expect(
      await db.sql("select state from svc.organization_invitations where email = $1 order by created_at", [ida.email]),
    ).toEqual(["rejected", "canceled", "expired", "accepted"].map((state) => ({ state })));
  });

  test("ends when its sender leaves, is removed or may not give its role any more", async () => {
    const [jo, kim, lu, max] = (await users("jo", "kim", "lu", "max")) as [Person, Person, Person, Person];
    const yard = await found(jo, "Yard");
    await add(yard, kim, "owner");
    const role = (to: string) =>
      run(jo, "update svc.organization_members set role = $1 where user_id = $2", [to, kim.id]);
    const [asOwner, asAdmin] = [
      await invited(kim, yard, lu.email, "owner"),
      await invited(kim, yard, max.email, "admin"),
    ];
    await role("admin");
    expect(await accept(lu, asOwner)).toBe(null);
    expect(await accept(max, asAdmin)).toBe(yard);
    const again = await invited(kim, yard, lu.email);
    await role("editor");
    expect(await accept(lu, again)).toBe(null);
    await role("admin");
    expect(await accept(lu, again)).toBe(null);
    const last = await invited(kim, yard, lu.email);
    await run(jo, "delete from svc.organization_members where user_id = $1", [kim.id]);
    expect(await accept(lu, last)).toBe(null);
    expect(await members(yard)).toEqual({ jo: "owner", max: "admin" });
  });

  test("does not wait for a member, who would come back by it after a removal", async () => {
    const [ned, oli] = (await users("ned", "oli")) as [Person, Person];
    const hall = await found(ned, "Hall");
    await add(hall, oli);
    expect(await invite(ned, hall, oli.email)).toBe("AP409");
    await db.sql(`update auth."user" set email = 'late@example.com' where id = $1`, [ned.id]);
    const late = await invited(ned, hall, "oli.new@example.com");
    await db.sql(`update auth."user" set email = 'oli.new@example.com' where id = $1`, [oli.id]);
    await run(ned, "delete from svc.organization_members where user_id = $1", [oli.id]);
    expect(await accept(oli, late)).toBe(null);
  });
});

test("accounts send and addresses get a bounded number of invitations a day", async () => {
  const [pam, quin] = (await users("pam", "quin")) as [Person, Person];
  const club = await found(pam, "Club");
  const many = (from: number, to: number) =>
    run(
      pam,
      `insert into svc.organization_invitations (org_id, email, role)
      select $1, 'g' || n || '@example.com', 'member' from generate_series($2::int, $3) n`,
      [club, from, to],
    );
  expect([await many(1, 101), await many(1, 100), await many(101, 101)]).toEqual(["AP429", [], "AP429"]);
  await db.sql("update auth.attempt set ends_at = now() where subject = $1", [pam.id]);
  expect(await many(101, 101)).toEqual([]);
  for (let at = 0; at < 5; at++) expect(await invite(quin, await found(quin), "target@example.com")).toHaveLength(1);
  // The mails are sent, whatever becomes of their organizations.
  await run(quin, "delete from svc.organizations");
  expect(await invite(quin, await found(quin), "target@example.com")).toBe("AP429");
  expect(
    await db.sql(
      "insert into svc.organization_invitations (org_id, email, role, invited_by) values ($1, 'target@example.com', 'member', $2) returning 1",
      [club, pam.id],
    ),
  ).toHaveLength(1);
});

test("an organization keeps an owner, and the error names it", async () => {
  const [rae, sam] = (await users("rae", "sam")) as [Person, Person];
  const barn = await found(rae, "Barn");
  await add(barn, sam, "admin");
  expect(await run(rae, "delete from svc.organization_members where user_id = $1", [rae.id])).toBe("AP409");
  expect(await run(rae, "update svc.organization_members set role = 'admin' where user_id = $1", [rae.id])).toBe(
    "AP409",
  );
  const deleting = db.sql('delete from auth."user" where id = $1', [rae.id]);
  await expect(deleting).rejects.toMatchObject({ code: "AP409", message: 'The organization "Barn" needs an owner.' });
  await run(rae, "update svc.organization_members set role = 'owner' where user_id = $1", [sam.id]);
  await db.sql('delete from auth."user" where id = $1', [rae.id]);
  expect(await members(barn)).toEqual({ sam: "owner" });
  expect(await run(sam, "delete from svc.organizations where id = $1 returning 1", [barn])).toHaveLength(1);
});

test("a person who is in many organizations, and owns few, founds another one", async () => {
  const [uma] = (await users("uma")) as [Person];
  await db.sql("insert into svc.organizations (id, name) select 'many' || n, 'Many' from generate_series(1, 100) n");
  for (let n = 1; n <= 100; n++) await add(`many${n}`, uma, "member");
  expect(await found(uma, "Own")).toEqual(expect.any(String));
  await db.sql("update svc.organization_members set role = 'owner' where user_id = $1 and org_id <> 'many1'", [uma.id]);
  expect(await run(uma, "select svc.create_organization('One too many')")).toBe("AP429");
});

test("old invitations are removed, and open ones are not", async () => {
  const [tim] = (await users("tim")) as [Person];
  const dock = await found(tim, "Dock");
  await invited(tim, dock, "old@example.com");
  await db.sql(
    "update svc.organization_invitations set created_at = now() - interval '31 days', expires_at = now() where org_id = $1",
    [dock],
  );
  await invited(tim, dock, "new.one@example.com");
  const system = await db.connect("system");
  const { rows } = await system.query("select svc_private.sweep_invitations('30 days') as removed");
  expect(rows).toEqual([{ removed: "1" }]);
  expect(await db.sql("select email from svc.organization_invitations where org_id = $1", [dock])).toEqual([
    { email: "new.one@example.com" },
  ]);
});

test("an API key reads and changes them only with the scope *, and its organizations are those of its user", async () => {
  const owner = everybody.owner as Person;
  const withKey = (scopes: string) => ({ ...owner, id: `${owner.id}\tkey\t${scopes}` });
  for (const table of ["organizations", "organization_members", "organization_invitations"]) {
    expect(await run(withKey("tickets:read tickets:write"), `select id from svc.${table}`)).toEqual([]);
    expect(await run(withKey("tickets:read tickets:write"), `delete from svc.${table} returning id`)).not.toHaveLength(
      1,
    );
    expect(await run(withKey("*"), `select id from svc.${table}`)).toEqual(
      await run(owner, `select id from svc.${table}`),
    );
  }
  expect(await invite(withKey("tickets:write"), org, "more@example.com")).toBe("42501");
  expect(await run(withKey("tickets:read"), "select svc.my_orgs() as id")).toEqual([{ id: org }]);
});
