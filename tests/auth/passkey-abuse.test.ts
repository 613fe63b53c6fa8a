// If this file fails, somebody keeps a way into the account of another, shuts its owner out, or fills the database.
import { randomBytes } from "node:crypto";
import { admin, deviceAuthorization } from "better-auth/plugins";
import { beforeAll, expect, test } from "vitest";
import { type AuthServer, origin } from "../support/auth-server.ts";
import { Authenticator } from "../support/authenticator.ts";
import { passkeyWorld, withTokens } from "./passkey-world.ts";

const world = passkeyWorld([admin(), deviceAuthorization()]);
const { db, person } = world;
let server: AuthServer;
let there: AuthServer;
beforeAll(() => {
  ({ server, there } = world.servers);
});

const of = async (bearer: string) =>
  (
    await db.sql<{ id: string }>("select id from auth.passkey where user_id = $1", [
      (await server.caller(bearer))?.user?.id,
    ])
  ).length;

const options = async (bearer: string) => (await server.get("/passkey/generate-register-options", { bearer })).body;
async function add(bearer: string, device = new Authenticator(origin), more: object = {}, transports?: unknown) {
  const { challenge, svcChallenge } = await options(bearer);
  const body = { response: device.register(challenge, transports), svcChallenge, ...more };
  return server.post("/passkey/verify-registration", body, { bearer });
}
async function enter(device: Authenticator) {
  const { challenge, svcChallenge } = (await server.get("/passkey/generate-authenticate-options", withTokens)).body;
  return server.post(
    "/passkey/verify-authentication",
    { response: device.signIn(challenge), svcChallenge },
    withTokens,
  );
}

test("a challenge counts once, in one process and in another, and for its own user and ceremony", async () => {
  const [one, other] = [await person(), await person()];
  const device = new Authenticator(origin);
  const registering = await options(one.bearer);
  const body = { response: device.register(registering.challenge), svcChallenge: registering.svcChallenge };
  const path = "/passkey/verify-registration";
  expect((await server.post(path, body, { bearer: other.bearer })).status).toBe(401);
  expect((await server.post(path, body, { bearer: one.bearer })).status).toBe(400);
  expect((await add(one.bearer, device)).status).toBe(200);

  const { challenge, svcChallenge } = (await server.get("/passkey/generate-authenticate-options", withTokens)).body;
  const entering = { response: device.signIn(challenge), svcChallenge };
  const answers = await Promise.all(
    [server, there, server, there].map((one) => one.post("/passkey/verify-authentication", entering, withTokens)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  const mixed = (await server.get("/passkey/generate-authenticate-options", withTokens)).body;
  const crossed = { response: device.register(mixed.challenge), svcChallenge: mixed.svcChallenge };
  expect((await server.post(path, crossed, { bearer: one.bearer })).status).toBe(400);
  const elsewhere = new Authenticator("https://evil.test", device.credential);
  expect((await enter(elsewhere)).status).toBe(400);
});

test("a banned user does not enter", async () => {
  const one = await person();
  const device = new Authenticator(origin);
  await add(one.bearer, device);
  expect((await enter(device)).body.user.id).toBe(one.id);
  await db.sql(`update auth."user" set banned = true where id = $1`, [one.id]);
  const answer = await enter(device);
  expect([answer.status, answer.body.sessionToken]).toEqual([403, undefined]);
});

test("an administrator who acts as a user leaves neither a passkey nor a session behind", async () => {
  const [boss, one] = [await person(), await person()];
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
  const acting = (await server.post("/admin/impersonate-user", { userId: one.id }, boss)).body.sessionToken;
  for (const more of [{}, { createSession: true }]) {
    const answer = await add(acting, undefined, more);
    expect([answer.status, answer.body.code]).toEqual([403, "FORBIDDEN"]);
  }
  const { device_code, user_code } = (await server.post("/device/code", { client_id: "tv" })).body;
  expect((await server.get(`/device?user_code=${user_code}`, { bearer: acting })).status).toBe(200);
  expect((await server.post("/device/approve", { userCode: user_code }, { bearer: acting })).status).toBe(403);
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  expect((await server.post("/device/token", { grant_type, device_code, client_id: "tv" })).status).toBe(400);
  expect(await of(one.bearer)).toBe(0);
  expect(await db.sql("select from auth.session where user_id = $1", [one.id])).toHaveLength(2);
});

test("an administrator who acts as a user without a password does not delete the account", async () => {
  const [boss, one] = [await person(), await person()];
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
  await db.sql("delete from auth.account where user_id = $1", [one.id]);
  const acting = (await server.post("/admin/impersonate-user", { userId: one.id }, boss)).body.sessionToken;
  expect((await server.post("/delete-user", {}, { bearer: acting })).status).toBe(403);
  expect((await server.post("/delete-user", {}, one)).status).toBe(200);
});

test("nobody registers the passkey of another, which would shut its owner out", async () => {
  const [owner, eve] = [await person(), await person()];
  const device = new Authenticator(origin);
  await add(owner.bearer, device);
  const copy = await add(eve.bearer, new Authenticator(origin, device.credential));
  expect([copy.status, await of(eve.bearer)]).toEqual([409, 0]);
  expect((await enter(device)).status).toBe(200);
  expect((await enter(device)).status).toBe(200);
});

test("a user has twenty passkeys, of a size that browsers make", async () => {
  const one = await person();
  expect((await add(one.bearer, new Authenticator(origin, randomBytes(2100)))).status).toBe(400);
  expect(await of(one.bearer)).toBe(0);
  for (let count = 0; count < 20; count++) expect((await add(one.bearer)).status).toBe(200);
  expect((await add(one.bearer)).status).toBe(409);
});

test("a sign-in with a malformed id is refused, and is no fault of the service", async () => {
  const device = new Authenticator(origin);
  for (const id of [["x"], { x: 1 }, 1, null, "x".repeat(9_000), "\u0000"]) {
    const { svcChallenge } = (await server.get("/passkey/generate-authenticate-options", withTokens)).body;
    const body = { response: { ...device.signIn("x"), id }, svcChallenge };
    const answer = await server.post("/passkey/verify-authentication", body, withTokens);
    expect([401, 400], JSON.stringify(id).slice(0, 40)).toContain(answer.status);
  }
});

test("passkeys go with their user", async () => {
  const one = await person();
  await add(one.bearer);
  await db.sql(`delete from auth."user" where id = $1`, [one.id]);
  expect(await db.sql("select from auth.passkey where user_id = $1", [one.id])).toEqual([]);
});
