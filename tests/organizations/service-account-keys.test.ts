// If this file fails, somebody gets a key of an organization's program without the right to, or a key still works after it has ended.
import { describe, expect, test } from "vitest";
import { waitsForLock } from "../support/database.ts";
import { bearer, type User } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { until } from "../support/worker.ts";
import { asKey, type Bot, serviceAccountsWorld } from "./service-accounts-world.ts";

const { db, app, there, made, bot } = serviceAccountsWorld();
const connect = sockets(there);

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

test("a key that is created while its account is removed ends with it", async () => {
  const one = await bot();
  const removing = await db.connect("admin");
  await removing.query("begin");
  await removing.query("delete from svc.organization_members where user_id = $1", [one.id]);
  const creating = app.mutate(one.owner, "serviceAccountKeys.create", {
    serviceAccountId: one.id,
    name: "late",
    scopes: ["invoices:read"],
  });
  await until(async () => (await db.sql(waitsForLock)).length === 1);
  await removing.query("commit");
  expect((await creating).status).toBe(404);
  expect(await db.sql("select from auth.api_key where user_id = $1", [one.id])).toEqual([]);
});

test("a removal and a new name at the same moment do not wait for each other", async () => {
  const one = await bot();
  const removing = await db.connect("admin");
  await removing.query("begin");
  await removing.query("select from svc.organization_members where user_id = $1 for update", [one.id]);
  const renaming = app.mutate(one.owner, "serviceAccounts.update", { id: one.id, name: "Exporter" });
  await until(async () => (await db.sql(waitsForLock)).length === 1);
  await removing.query("delete from svc.organization_members where user_id = $1", [one.id]);
  await removing.query("commit");
  expect((await renaming).body.json).toMatchObject({ name: "Exporter", role: null });
  expect(await db.sql("select from auth.api_key where user_id = $1", [one.id])).toEqual([]);
});

test("a key is removed as one of its own account alone, also by the function below the policies", async () => {
  const [one, other] = [await bot(), await bot()];
  const keys = await db.sql(
    `insert into auth.api_key (user_id, name, start, hash, scopes, expires_at)
     select id, 'x', 'svc_', sha256(convert_to(id, 'UTF8')), '{*}', 'tomorrow' from unnest($1::text[]) id returning id, user_id`,
    [[one.id, other.id]],
  );
  const key = keys.find(({ user_id }) => user_id === other.id)?.id;
  const remove = async (account: string) =>
    (await db.sql("select svc_private.delete_service_account_key($1, $2) as it", [account, key]))[0]?.it;
  expect([await remove(one.id), await remove(other.id)]).toEqual([false, true]);
});
