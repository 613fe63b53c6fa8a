// If this file fails, a program of a company as in docs/how-to/service-accounts.md reaches too much, or stops with a person.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";

const { db, person, post, call, lint } = documented("docs/how-to/service-accounts.md");

type Person = Awaited<ReturnType<typeof person>>;

test("a program reads as its key says, outlives its maker, and ends when it is removed", async () => {
  const [ann, bob] = (await Promise.all(["ann", "bob"].map(person))) as [Person, Person];
  const ask = async (who: Person, name: string, args: object) =>
    (await call("mutation", who.sessionToken, name, args)).body.json;
  const { id: orgId } = await ask(ann, "organizations.create", { name: "Acme" });
  await db.sql("insert into svc.organization_members (org_id, user_id, role) values ($1, $2, 'owner')", [
    orgId,
    bob.user.id,
  ]);
  await ask(bob, "invoices.create", { orgId, title: "One" });
  const { id } = await ask(ann, "serviceAccounts.create", { orgId, name: "Accounting", role: "editor" });
  const making = { serviceAccountId: id, name: "2026", scopes: ["invoices:read"], expiresInDays: 90 };
  const { key } = await ask(ann, "serviceAccountKeys.create", making);

  const titles = async () => (await call("query", key, "invoices.list")).body.json?.data;
  expect(await titles()).toMatchObject([{ title: "One" }]);
  expect((await call("mutation", key, "invoices.create", { orgId, title: "Two" })).status).toBe(403);
  expect((await post("/api/auth/delete-user", { password: "correct horse" }, ann.sessionToken)).status).toBe(200);
  expect(await titles()).toMatchObject([{ title: "One" }]);
  await ask(bob, "serviceAccounts.remove", { id });
  await expect.poll(async () => (await call("query", key, "invoices.list")).status).toBe(401);
  const { body } = await call("query", bob.sessionToken, "serviceAccounts.list");
  expect(body.json.data).toMatchObject([{ name: "Accounting", role: null, createdBy: ann.user.id }]);
});

test("the linter finds nothing", async () => {
  expect(await lint()).toEqual([]);
});
