// If this file fails, a program of an organization reaches more than its role and its scopes say, goes on after it was removed, or
// becomes a person.

import { admin, magicLink } from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { asker } from "../graphql/support.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { bearer, TestService, type User } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { create as createUpload } from "../support/uploads.ts";
import { until, workers } from "../support/worker.ts";
import { api, auth, createTables, schema } from "./service-account-application.ts";

const db = database("platform");
const links: string[] = [];
const definition = defineAuth({
  ...auth,
  betterAuth: (defaults) => ({
    ...defaults,
    plugins: [admin(), magicLink({ sendMagicLink: ({ url }) => void links.push(url) })],
  }),
});
const config = { storage: { driver: "disk" as const, dir: bytesFolder() } };
const app = new TestService(db, api, config, schema, undefined, definition);
/** Another process's worth of caches. */
const there = new TestService(db, api, config, schema, undefined, definition);
const connect = sockets(there);
const worker = workers(db, api);
const graphql = asker(app);

beforeAll(async () => {
  await migrateAuth(db, definition);
  await createTables(db);
  await Promise.all([app.start(), there.start()]);
});
afterAll(() => Promise.all([app.stop(), there.stop()]));

interface Bot {
  id: string;
  orgId: string;
  owner: User;
  keyId: string;
  /** Calls with its key. */
  calls: User;
}

const asKey = (key: string): User => ({ id: "", email: "", token: key, sessionToken: key });
const made = async (by: User, name: string, args: object) => {
  const { status, body } = await app.mutate(by, name, args);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.json;
};

const everyday = ["invoices:read", "invoices:write", "files:write"];

async function bot(role = "editor", scopes = everyday): Promise<Bot> {
  const owner = await app.signUp("owner");
  const { id: orgId } = await made(owner, "organizations.create", { name: "Acme" });
  const { id } = await made(owner, "serviceAccounts.create", { orgId, name: "Importer", role });
  const { id: keyId, key } = await made(owner, "serviceAccountKeys.create", {
    serviceAccountId: id,
    name: "CI",
    scopes,
  });
  return { id, orgId, owner, keyId, calls: asKey(key) };
}
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

describe("a key is created", () => {
  const creating = "serviceAccountKeys.create";
  const keyOf = (one: Bot) => ({ serviceAccountId: one.id, name: "CI", scopes: ["invoices:read"] });
  const post = (path: string, body: object, by: User, headers: object) =>
    app.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(by), ...headers },
      body: JSON.stringify(body),
    });
  const ask = (by: User, one: Bot, args: object = {}, headers = {}) =>
    post("/api/mutation", { name: creating, args: { ...keyOf(one), ...args } }, by, headers);

  test("by owners and admins of its organization, in a session that has not ended", async () => {
    const one = await bot();
    const [mate, eve] = [await app.signUp("mate"), await app.signUp("eve")];
    await db.sql("insert into svc.organization_members (org_id, user_id, role) values ($1, $2, 'editor')", [
      one.orgId,
      mate.id,
    ]);
    await made(eve, "organizations.create", { name: "Elsewhere" });
    expect([(await ask(mate, one)).status, (await ask(eve, one)).status]).toEqual([404, 404]);
    await db.sql("update svc.organization_members set role = 'admin' where user_id = $1", [mate.id]);
    expect((await ask(mate, one)).status).toBe(200);
    const whole = (await app.post("/api/auth/api-keys", { name: "mine", scopes: ["*"] }, mate)).body.key;
    expect((await ask(asKey(whole), one)).status).toBe(403);
    await db.sql("alter table auth.session disable trigger user");
    await db.sql("delete from auth.session where user_id = $1", [mate.id]);
    await db.sql("alter table auth.session enable trigger user");
    expect((await ask(mate, one)).status).toBe(403); // its JWT is still cached
  });

  test("not by an administrator who acts as an owner", async () => {
    const [one, boss] = [await bot(), await app.signUp("boss")];
    await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
    const asBoss = { ...boss, token: boss.sessionToken };
    const acting = await app.post("/api/auth/admin/impersonate-user", { userId: one.owner.id }, asBoss);
    const token = acting.body.sessionToken;
    expect((await ask(asKey(token), one)).body).toMatchObject({ code: "FORBIDDEN" });
  });

  test("for no person, and for no account that was removed", async () => {
    const one = await bot();
    expect((await ask(one.owner, { ...one, id: one.owner.id })).status).toBe(404);
    expect((await app.mutate(one.owner, "serviceAccounts.remove", { id: one.owner.id })).status).toBe(404);
    expect((await app.mutate(one.owner, "serviceAccounts.update", { id: one.owner.id, role: "member" })).status).toBe(
      404,
    );
    await made(one.owner, "serviceAccounts.remove", { id: one.id });
    expect((await ask(one.owner, one)).status).toBe(404);
  });

  test("three times at most, also at once, and only with declared scopes", async () => {
    const one = await bot();
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(one.owner, one)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409, 409]);
    expect((await ask(one.owner, one, { scopes: ["gone"] })).status).toBe(400);
    expect((await ask(one.owner, one, { scopes: [] })).status).toBe(400);
    expect((await ask(one.owner, one, { expiresInDays: 3_651 })).status).toBe(400);
  });

  test("not with an idempotency key, which would store the answer", async () => {
    const one = await bot();
    const { status, body } = await ask(one.owner, one, {}, { "idempotency-key": "k" });
    expect([status, body.hint]).toEqual([400, expect.stringContaining("Idempotency-Key")]);
    const calls = [{ name: creating, args: keyOf(one) }];
    expect((await post("/api/batch", { calls }, one.owner, { "idempotency-key": "k" })).status).toBe(400);
    expect(await db.sql("select from auth.api_key where user_id = $1", [one.id])).toHaveLength(1);
    expect(await db.sql("select from svc_private.kept_answers where user_id = $1", [one.owner.id])).toEqual([]);
  });
});

describe("calls, sockets, channels and streams of a cached key end in every process", () => {
  const endings: [string, (one: Bot) => Promise<unknown>][] = [
    [
      "when it is revoked",
      (one) => made(one.owner, "serviceAccountKeys.remove", { serviceAccountId: one.id, id: one.keyId }),
    ],
    ["when its account is removed", (one) => made(one.owner, "serviceAccounts.remove", { id: one.id })],
    [
      "when its membership is deleted",
      (one) => db.sql("delete from svc.organization_members where user_id = $1", [one.id]),
    ],
    ["with its organization", (one) => made(one.owner, "organizations.remove", { id: one.orgId })],
    ["by a ban", (one) => db.sql('update auth."user" set banned = true where id = $1', [one.id])],
    [
      "when an operator revokes all of it",
      (one) => db.sql("select svc_private.act_revoke_api_keys(null, $1)", [one.id]),
    ],
  ];
  test.for(endings)("%s", async ([, end]) => {
    const one = await bot();
    await made(one.calls, "invoices.create", { orgId: one.orgId, title: "One" });
    const statuses = async () =>
      [(await app.query(one.calls, "who")).status, (await there.query(one.calls, "who")).status].join();
    expect(await statuses()).toBe("200,200");
    const socket = await connect(one.calls);
    await socket.subscribe("invoices.list");
    const stream = await fetch(`${there.url}/api/following`, {
      headers: { authorization: `Bearer ${one.calls.token}` },
    });
    const reader = stream.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    expect((await reader.read()).done).toBe(false);
    await end(one);
    await expect.poll(statuses).toBe("401,401");
    await expect.poll(() => socket.closed?.code).toBe(4401);
    await expect
      .poll(async () => {
        const ended = await reader.read().then(
          ({ done }) => done,
          () => true,
        );
        return ended;
      })
      .toBe(true);
  });
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
