// If this file fails, a program of an organization reaches more than its role and its scopes say, or becomes a person.
import { expect, test } from "vitest";
import { asker } from "../graphql/support.ts";
import type { User } from "../support/service.ts";
import { create as createUpload } from "../support/uploads.ts";
import { until, workers } from "../support/worker.ts";
import { api, schema } from "./service-account-application.ts";
import { everyday, serviceAccountsWorld } from "./service-accounts-world.ts";

const { db, app, definition, links, made, bot } = serviceAccountsWorld();
const worker = workers(db, api);
const graphql = asker(app);

const titles = async (who: User) =>
  (await app.query(who, "invoices.list")).body.json.data.map(({ title }: { title: string }) => title);

test("an owner makes an account and a key, which is shown once and works in its organization alone", async () => {
  const one = await bot();
  const other = await bot();
  await made(other.owner, "invoices.create", { orgId: other.orgId, title: "Theirs" });
  expect(await made(one.calls, "invoices.create", { orgId: one.orgId, title: "Ours" })).toMatchObject({
    userId: one.id,
  });
  expect((await app.mutate(one.calls, "invoices.create", { orgId: other.orgId, title: "x" })).status).toBe(403);
  expect(await titles(one.calls)).toEqual(["Ours"]);
  expect(await titles(one.owner)).toEqual(["Ours"]);
  expect((await app.query(one.calls, "who")).body.json).toMatchObject({
    actor: "service",
    own: [one.orgId],
    user: { id: one.id, name: "Importer", email: `${one.id}@service.invalid` },
  });
  expect((await graphql(one.calls, "{ invoices { nodes { title } } diaries { nodes { title } } }")).data).toEqual({
    invoices: { nodes: [{ title: "Ours" }] },
    diaries: { nodes: [] },
  });
  const { data } = (await app.query(one.owner, "serviceAccounts.list", { filters: { orgId: one.orgId } })).body.json;
  expect(data).toMatchObject([{ id: one.id, name: "Importer", role: "editor", createdBy: one.owner.id }]);
  const keys = (await app.query(one.owner, "serviceAccountKeys.list", { serviceAccountId: one.id })).body;
  expect(keys.json).toMatchObject([
    {
      id: one.keyId,
      name: "CI",
      scopes: everyday,
      createdBy: one.owner.id,
      start: one.calls.token.slice(0, 11),
    },
  ]);
  expect(JSON.stringify(keys)).not.toContain(one.calls.token.slice(11));
  expect(app.logged.join("")).not.toContain(one.calls.token.slice(11));
  const members = (await app.query(one.owner, "organizationMembers.list", { filters: { userId: one.id } })).body.json;
  expect(members.data).toMatchObject([{ name: "Importer", role: "editor" }]);
});

test("uploads, jobs and runs act as the account, and manage no organization", async () => {
  const one = await bot("admin");
  expect((await createUpload(app, one.calls, 3)).status).toBe(201);
  await worker({ app: { api, auth: definition, schema } });
  await made(one.calls, "later", { orgId: one.orgId });
  await until(async () => (await titles(one.owner)).length === 2);
  expect((await titles(one.owner)).sort()).toEqual(["by job", "by run"]);
  expect(await db.sql("select distinct user_id from invoices where org_id = $1", [one.orgId])).toEqual([
    { user_id: one.id },
  ]);
  expect(await db.sql("select from svc.organization_members where org_id = $1", [one.orgId])).toHaveLength(2);
  expect((await app.mutate(one.calls, "account")).status).toBe(403);
});

test("a key with the scope * of an admin manages neither people, accounts, keys nor the organization", async () => {
  const one = await bot("admin", ["*"]);
  const { orgId, calls, id } = one;
  const mate = await app.signUp("mate");
  await db.sql("insert into svc.organization_members (org_id, user_id, role) values ($1, $2, 'member')", [
    orgId,
    mate.id,
  ]);
  const list = (await app.query(calls, "organizationMembers.list")).body.json.data;
  expect(list.map(({ name }: { name: string }) => name).sort()).toEqual(["Importer", "mate", "owner"]);
  const row = list.find(({ userId }: { userId: string }) => userId === mate.id).id;
  const refused = async (name: string, args: object) => [name, (await app.mutate(calls, name, args)).status];
  const attempts: [string, object][] = [
    ["organizations.create", { name: "x" }],
    ["organizations.update", { id: orgId, name: "x" }],
    ["organizations.remove", { id: orgId }],
    ["organizations.leave", { id: orgId }],
    ["organizationMembers.update", { id: row, role: "admin" }],
    ["organizationMembers.remove", { id: row }],
    ["organizationInvitations.create", { orgId, email: "x@example.com", role: "member" }],
    ["serviceAccounts.create", { orgId, name: "x", role: "admin" }],
    ["serviceAccounts.update", { id, name: "x" }],
    ["serviceAccounts.update", { id, role: "member" }],
    ["serviceAccounts.remove", { id }],
    ["serviceAccountKeys.create", { serviceAccountId: id, name: "x", scopes: ["*"] }],
    ["serviceAccountKeys.remove", { serviceAccountId: id, id: one.keyId }],
  ];
  for (const [name, args] of attempts) expect([403, 404]).toContain((await refused(name, args))[1]);
  expect((await app.query(calls, "serviceAccounts.list")).body.json.data).toEqual([]);
  expect((await app.query(calls, "serviceAccountKeys.list", { serviceAccountId: id })).body.json).toEqual([]);
});

test("its upload URL stores nothing after it was removed", async () => {
  const one = await bot();
  const [first, second] = [await made(one.calls, "link", {}), await made(one.calls, "link", {})];
  const put = async ({ url }: { url: string }) => (await app.fetch(url, { method: "PUT", body: "x" })).status;
  expect(await put(first)).toBe(200);
  await made(one.owner, "serviceAccounts.remove", { id: one.id });
  expect(await put(second)).toBe(404);
});

test("another role counts for the next call of its key", async () => {
  const one = await bot();
  const create = async () =>
    (await app.mutate(one.calls, "invoices.create", { orgId: one.orgId, title: "One" })).status;
  expect(await create()).toBe(200);
  expect(await made(one.owner, "serviceAccounts.update", { id: one.id, role: "member", name: "Reader" })).toMatchObject(
    { name: "Reader", role: "member" },
  );
  expect(await create()).toBe(403);
  await expect.poll(async () => (await app.query(one.calls, "who")).body.json.user.name).toBe("Reader");
});

test("it gets no session from any endpoint: by its address, an administrator, a link or a reset", async () => {
  const [one, boss] = [await bot(), await app.signUp("boss")];
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
  const asBoss = { ...boss, token: boss.sessionToken };
  const email = `${one.id}@service.invalid`;
  const tries: [string, object, User?][] = [
    ["/admin/impersonate-user", { userId: one.id }, asBoss],
    ["/admin/set-user-password", { userId: one.id, newPassword: "correct horse" }, asBoss],
    ["/sign-up", { email, password: "correct horse", name: "x" }],
    ["/sign-in", { email, password: "correct horse" }],
    ["/admin/update-user", { userId: one.id, data: { email: "real@example.com", emailVerified: true } }, asBoss],
    ["/request-password-reset", { email: "real@example.com" }],
    ["/sign-in/magic-link", { email: "real@example.com" }],
  ];
  for (const [path, input, by] of tries) {
    const { status, body, headers } = await app.post(`/api/auth${path}`, input, by ?? null);
    expect([path, body.token, body.sessionToken, headers.get("set-cookie")]).toEqual([
      path,
      undefined,
      undefined,
      null,
    ]);
    expect(status, path).toBeLessThan(500);
  }
  await expect.poll(() => links.length).toBe(1);
  const { pathname, search } = new URL(links[0] as string);
  const opened = await fetch(`${app.url}${pathname}${search}`, { redirect: "manual" });
  expect(opened.headers.getSetCookie().filter((one) => /session_token=[^;]/.test(one))).toEqual([]);
  expect(await db.sql("select from auth.session where user_id = $1", [one.id])).toEqual([]);
  expect(await db.sql("select from auth.account where user_id = $1", [one.id])).toEqual([]);
  expect((await app.query(one.calls, "who")).status).toBe(200);
});

test("the history names it, also after it was removed, and its rows stay", async () => {
  const one = await bot();
  const { id } = await made(one.calls, "invoices.create", { orgId: one.orgId, title: "One" });
  await made(one.owner, "serviceAccounts.remove", { id: one.id });
  const { data } = (await app.query(one.owner, "invoices.history", { id })).body.json;
  expect(data).toMatchObject([{ operation: "insert", actor: one.id }]);
  const accounts = (await app.query(one.owner, "serviceAccounts.list", { filters: { orgId: one.orgId } })).body.json;
  expect(accounts.data).toMatchObject([{ id: one.id, name: "Importer", role: null }]);
  expect(await titles(one.owner)).toEqual(["One"]);
});
