// If this file fails, removed members and strangers get into a company of docs/how-to/organizations.md, or members do not.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";

const { db, person, post, call, lint } = documented("docs/how-to/organizations.md");

type Person = Awaited<ReturnType<typeof person>>;

/** People whose addresses are verified. */
async function people(...names: string[]): Promise<Person[]> {
  const all = await Promise.all(names.map(person));
  await db.sql('update auth."user" set email_verified = true');
  return all;
}

const ask = (who: Person, path: string, body: object) => post(`/api/auth/organization/${path}`, body, who.sessionToken);

async function found(owner: Person, slug: string): Promise<string> {
  return (await ask(owner, "create", { name: slug, slug })).body.id;
}

async function invite(by: Person, company: string, to: Person, role = "member"): Promise<string> {
  return (await ask(by, "invite-member", { email: to.user.email, role, organizationId: company })).body.id;
}

const accept = async (who: Person, invitationId: string) =>
  (await ask(who, "accept-invitation", { invitationId })).status;

const remove = (by: Person, company: string, who: Person) =>
  ask(by, "remove-member", { memberIdOrEmail: who.user.email, organizationId: company });

const create = async (who: Person, companyId: string) =>
  (await call("mutation", who.sessionToken, "projects.create", { companyId, title: "A bridge" })).status;

const titles = async (who: Person) =>
  (await call("query", who.sessionToken, "projects.list")).body.json.data.map(({ title }: { title: string }) => title);

test("members read, admins write, and neither does a stranger, a removed member or a demoted admin", async () => {
  const [ann, bob, eve, kim] = (await people("ann", "bob", "eve", "kim")) as [Person, Person, Person, Person];
  const company = await found(ann, "acme");
  expect(await accept(bob, await invite(ann, company, bob))).toBe(200);
  expect(await accept(kim, await invite(ann, company, kim, "admin"))).toBe(200);
  expect([await create(eve, company), await create(bob, company), await create(kim, company)]).toEqual([403, 403, 200]);
  expect([await titles(ann), await titles(bob), await titles(eve)]).toEqual([["A bridge"], ["A bridge"], []]);

  const [member] = await db.sql<{ id: string }>("select id from auth.member where user_id = $1", [kim.user.id]);
  await ask(ann, "update-member-role", { memberId: member?.id, role: "member", organizationId: company });
  expect([await create(kim, company), await titles(kim)]).toEqual([403, ["A bridge"]]);
  expect((await remove(ann, company, bob)).status).toBe(200);
  expect(await titles(bob)).toEqual([]);
});

test("an invitation counts for its verified address, while the member who sent it may invite", async () => {
  const [fay, gil, hal] = (await people("fay", "gil", "hal")) as [Person, Person, Person];
  const ida = await person("ida"); // her address is not verified
  const company = await found(fay, "mill");
  expect(await accept(ida, await invite(fay, company, ida))).toBe(403);
  expect(await accept(gil, await invite(fay, company, gil, "admin"))).toBe(200);
  const ofGil = await invite(gil, company, hal, "admin");
  expect(await accept(gil, ofGil)).toBe(403);
  await remove(fay, company, gil);
  expect(await accept(hal, ofGil)).toBe(400);
  expect(await accept(hal, await invite(fay, company, hal))).toBe(200);
});

test("a company keeps an owner until it is deleted with its rows", async () => {
  const [jo, lu] = (await people("jo", "lu")) as [Person, Person];
  const company = await found(jo, "yard");
  await accept(lu, await invite(jo, company, lu));
  expect(await create(jo, company)).toBe(200);
  const bye = await post("/api/auth/delete-user", { password: "correct horse" }, jo.sessionToken);
  expect([bye.status, bye.body.hint]).toEqual([409, "Add another owner first, or delete the company."]);
  const ofCompany = () =>
    db.sql("select 1 from memberships where company_id = $1 union all select 1 from projects where company_id = $1", [
      company,
    ]);
  expect(await ofCompany()).toHaveLength(3);
  expect((await ask(jo, "delete", { organizationId: company })).status).toBe(200);
  expect(await ofCompany()).toHaveLength(0);
});

test("the linter finds nothing", async () => {
  expect(await lint()).toEqual([]);
});
