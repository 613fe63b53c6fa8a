// If this file fails, removed members and strangers get into a company of docs/how-to/organizations.md, or members do not.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";
import { snippets } from "./markdown.ts";

const { db, person, post, call, lint } = documented("docs/how-to/organizations.md");

type Person = Awaited<ReturnType<typeof person>>;

/** People whose addresses are verified. */
async function people(...names: string[]): Promise<Person[]> {
  const all = await Promise.all(names.map(person));
  await db.sql('update auth."user" set email_verified = true');
  return all;
}

const ask = (who: Person, name: string, args: object) => call("mutation", who.sessionToken, name, args);
const found = async (owner: Person, name: string): Promise<string> =>
  (await ask(owner, "organizations.create", { name })).body.json.id;

async function join(by: Person, orgId: string, who: Person, role = "member"): Promise<number> {
  const { body } = await ask(by, "organizationInvitations.create", { orgId, email: who.user.email, role });
  return (await ask(who, "organizationInvitations.accept", { id: body.json.id })).status;
}

const memberId = async (orgId: string, who: Person) =>
  (
    await db.sql<{ id: string }>("select id from svc.organization_members where org_id = $1 and user_id = $2", [
      orgId,
      who.user.id,
    ])
  )[0]?.id;

const create = async (who: Person, orgId: string) =>
  (await ask(who, "projects.create", { orgId, title: "A bridge" })).status;
const titles = async (who: Person) =>
  (await call("query", who.sessionToken, "projects.list")).body.json.data.map(({ title }: { title: string }) => title);

test("members read, editors write, and neither does a stranger, a removed member or a demoted editor", async () => {
  const [ann, bob, eve, kim] = (await people("ann", "bob", "eve", "kim")) as [Person, Person, Person, Person];
  const org = await found(ann, "Acme");
  expect([await join(ann, org, bob), await join(ann, org, kim, "editor")]).toEqual([200, 200]);
  expect([await create(eve, org), await create(bob, org), await create(kim, org)]).toEqual([403, 403, 200]);
  expect([await titles(ann), await titles(bob), await titles(eve)]).toEqual([["A bridge"], ["A bridge"], []]);

  expect((await ask(ann, "organizationMembers.update", { id: await memberId(org, kim), role: "member" })).status).toBe(
    200,
  );
  expect([await create(kim, org), await titles(kim)]).toEqual([403, ["A bridge"]]);
  expect((await ask(ann, "organizationMembers.remove", { id: await memberId(org, bob) })).status).toBe(200);
  expect(await titles(bob)).toEqual([]);
});

test("members comment on projects of theirs, and change their own comments alone", async () => {
  const [ann, bob, eve] = (await people("ann-c", "bob-c", "eve-c")) as [Person, Person, Person];
  const [org, other] = [await found(ann, "Acme"), await found(eve, "Other")];
  await join(ann, org, bob);
  const { body: made } = await ask(ann, "projects.create", { orgId: org, title: "A bridge" });
  const projectId = made.json.id;
  const write = async (who: Person, orgId: string) =>
    ask(who, "comments.create", { orgId, projectId, body: `of ${who.user.name}` });
  const hers = await write(ann, org);
  const statuses = [await write(bob, org), await write(eve, org), await write(eve, other)].map(({ status }) => status);
  expect(statuses).toEqual([200, 403, 409]);
  const change = { id: hers.body.json.id, body: "changed" };
  expect((await ask(bob, "comments.update", change)).status).toBe(404);
  expect((await ask(ann, "comments.update", change)).status).toBe(200);
  const { body } = await call("query", bob.sessionToken, "comments.list", {
    include: { project: { select: ["title"] } },
  });
  expect(body.json.data.map(({ body: text, project }: never) => [text, project]).toSorted()).toEqual([
    ["changed", { title: "A bridge" }],
    ["of bob-c", { title: "A bridge" }],
  ]);
});

test("a project has the name of its company", async () => {
  const [lu] = (await people("lu")) as [Person];
  await create(lu, await found(lu, "Mill"));
  const { body } = await call("query", lu.sessionToken, "projects.list", { include: { org: true } });
  expect(body.json.data).toMatchObject([{ title: "A bridge", org: { name: "Mill" } }]);
});

test("a company keeps an owner until it is deleted with its rows", async () => {
  const [jo] = (await people("jo")) as [Person];
  const org = await found(jo, "Yard");
  expect(await create(jo, org)).toBe(200);
  const bye = await post("/api/auth/delete-user", { password: "correct horse" }, jo.sessionToken);
  expect([bye.status, bye.body.error]).toEqual([409, 'The organization "Yard" needs an owner.']);
  expect((await ask(jo, "organizations.remove", { id: org })).status).toBe(200);
  expect(await db.sql("select from projects where org_id = $1", [org])).toHaveLength(0);
});

test("the linter finds nothing", async () => {
  expect(await lint()).toEqual([]);
});

test("memberships of better-auth's plugin are moved as the page says", async () => {
  const [max] = (await people("max")) as [Person];
  await db.sql(`create table auth.organization (id text primary key, name text, created_at timestamptz default now());
    create table auth.member (organization_id text, user_id text, role text);
    insert into auth.organization (id, name) values ('theirs', 'Dock');
    insert into auth.member values ('theirs', '${max.user.id}', 'admin,owner')`);
  const moving = (await snippets()).find(
    ({ place, text }) => place.startsWith("docs/how-to/organ") && text.includes("auth.member"),
  );
  await db.sql(moving?.text ?? "");
  const { body } = await call("query", max.sessionToken, "organizationMembers.list", { include: { org: true } });
  expect(body.json.data).toMatchObject([{ role: "owner", org: { id: "theirs", name: "Dock" } }]);
});

test("the policy of the page hides members from each other, and takes no right", async () => {
  const [ann, bob, kim] = (await people("ann-h", "bob-h", "kim-h")) as [Person, Person, Person];
  const org = await found(ann, "Acme");
  expect([await join(ann, org, bob), await join(ann, org, kim)]).toEqual([200, 200]);
  expect(await create(ann, org)).toBe(200);
  const hiding = (await snippets()).find(({ text }) => text.includes("app_hide_members"));
  await db.sql(hiding?.text ?? "");
  const names = async (who: Person) =>
    (await call("query", who.sessionToken, "organizationMembers.list")).body.json.data.map(
      ({ name }: { name: string }) => name,
    );
  expect((await names(bob)).sort()).toEqual(["ann-h", "bob-h"]);
  expect((await names(ann)).sort()).toEqual(["ann-h", "bob-h", "kim-h"]);
  expect(await titles(bob)).toEqual(["A bridge"]);
  expect((await ask(ann, "organizationMembers.update", { id: await memberId(org, kim), role: "editor" })).status).toBe(
    200,
  );
  expect((await names(kim)).sort()).toEqual(["ann-h", "bob-h", "kim-h"]);
  expect((await ask(bob, "organizations.leave", { id: org })).status).toBe(200);
});
