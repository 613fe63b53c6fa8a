// If this file fails, an administrator who acted as a member for an hour keeps a way into the member's organization.
import { beforeAll, expect, test } from "vitest";
import { createOrganizations } from "../../src/index.ts";
import type { User } from "../support/service.ts";
import { auth } from "./service-account-application.ts";
import { asKey, type Bot, serviceAccountsWorld } from "./service-accounts-world.ts";

const { db, app, made, bot } = serviceAccountsWorld();

const rows = "it changes or ends what the user has, and opens nothing to anybody else";
const less = "it only takes away";

/** Every mutation of organizations: `refused` in a visit, or why it is allowed. */
const doors: Record<string, string> = {
  "organizations.create": rows,
  "organizations.update": rows,
  "organizations.remove": less,
  "organizations.leave": less,
  "organizationMembers.update": "refused",
  "organizationMembers.remove": less,
  "organizationInvitations.create": "refused",
  "organizationInvitations.accept": "the user becomes a member, and nobody else",
  "organizationInvitations.reject": less,
  "organizationInvitations.cancel": less,
  "serviceAccounts.create": "refused",
  "serviceAccounts.update": "refused with a role; a name is a row",
  "serviceAccounts.remove": less,
  "serviceAccountKeys.create": "refused",
  "serviceAccountKeys.remove": less,
};

let one: Bot;
let mate: string;
let boss: string;
/** The same visit by its session token and by a JWT of it. */
const visits: Record<string, ReturnType<typeof asKey>> = {};
beforeAll(async () => {
  one = await bot();
  const [chief, other] = [await app.signUp("boss"), await app.signUp("mate")];
  const joins = "insert into svc.organization_members (org_id, user_id, role) values ($1, $2, 'member') returning id";
  mate = (await db.sql(joins, [one.orgId, other.id]))[0]?.id;
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [chief.id]);
  boss = chief.id;
  const asBoss = { ...chief, token: chief.sessionToken };
  const { body } = await app.post("/api/auth/admin/impersonate-user", { userId: one.owner.id }, asBoss);
  visits["session token"] = asKey(body.sessionToken);
  visits.JWT = asKey((await app.post("/api/auth/token", {}, asKey(body.sessionToken))).body.token);
});

test("every mutation of organizations is known to be refused or allowed in a visit", () => {
  const found = Object.values(createOrganizations(auth))
    .flatMap((procedures) => Object.values(procedures as Record<string, { "~svc": { procedure?: unknown } }>))
    .flatMap((one) => (one["~svc"].procedure ? [one["~svc"].procedure as { kind: string; name: string }] : []))
    .filter(({ kind }) => kind === "mutation")
    .map(({ name }) => name);
  expect(found.sort()).toEqual(Object.keys(doors).sort());
});

const refused = (): [string, object][] => [
  ["organizationInvitations.create", { orgId: one.orgId, email: "boss@example.com", role: "owner" }],
  ["organizationMembers.update", { id: mate, role: "owner" }],
  ["serviceAccounts.create", { orgId: one.orgId, name: "Backdoor", role: "admin" }],
  ["serviceAccounts.update", { id: one.id, role: "admin" }],
  ["serviceAccountKeys.create", { serviceAccountId: one.id, name: "CI", scopes: ["*"] }],
];

test.for(["session token", "JWT"])("who may come in is not changed by a visit, with its %s", async (by) => {
  const visit = visits[by] as ReturnType<typeof asKey>;
  expect((await app.query(visit, "who")).body.json).toMatchObject({ actor: "visit", user: { id: one.owner.id } });
  const known = "select user_id, role from svc.organization_members where org_id = $1 order by 1";
  const before = await db.sql(known, [one.orgId]);
  for (const [name, args] of refused()) {
    const { status, body } = await app.mutate(visit, name, args);
    expect([name, status, body.error]).toEqual([
      name,
      403,
      expect.stringContaining("An administrator who acts as a user"),
    ]);
  }
  expect(await db.sql(known, [one.orgId])).toEqual(before);
  expect(await db.sql("select from svc.organization_invitations where org_id = $1", [one.orgId])).toEqual([]);
  expect(Object.keys(doors).filter((name) => doors[name]?.startsWith("refused"))).toEqual(
    expect.arrayContaining(refused().map(([name]) => name)),
  );
});

test("the log names the administrator of each call that was a visit", async () => {
  const lineOf = (id: string | null) =>
    app.logged.map((line) => JSON.parse(line)).find((line) => line.requestId === id);
  const idOf = async (user: User) => (await app.query(user, "who")).headers.get("x-request-id");
  const [visited, own] = [await idOf(visits.JWT as User), await idOf(one.owner)];
  await expect.poll(() => lineOf(visited)).toMatchObject({ userId: one.owner.id, visit: boss });
  await expect.poll(() => lineOf(own)).toMatchObject({ userId: one.owner.id });
  expect(lineOf(own)).not.toHaveProperty("visit");
});

test("rows are read and written in a visit as by the user, and the user still invites", async () => {
  for (const visit of Object.values(visits)) {
    await made(visit, "invoices.create", { orgId: one.orgId, title: "One" });
    await made(visit, "organizations.update", { id: one.orgId, name: "Renamed" });
    await made(visit, "serviceAccounts.update", { id: one.id, name: "Renamed" });
    expect((await app.query(visit, "organizationMembers.list")).body.json.data).toHaveLength(3);
  }
  const [name, args] = refused()[0] as [string, object];
  await made(one.owner, name, args);
});
