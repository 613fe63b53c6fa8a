// If this file fails, an endpoint of a plugin makes a session that lasts too long, or leads to somebody else's account.
import type { BetterAuthPlugin } from "better-auth";
import {
  admin,
  deviceAuthorization,
  emailOTP,
  magicLink,
  multiSession,
  oneTimeToken,
  phoneNumber,
} from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { Browser } from "./second-factor.ts";

let sent = "";
const keep = async ({ otp, code, token }: { otp?: string; code?: string; token?: string }) => {
  sent = otp ?? code ?? token ?? "";
};
const ofUser = { fields: { userId: { type: "string", required: true } } } as const;
/** Two tables of `@better-auth/oauth-provider`, as far as they say whose a row is. */
const oauthProvider = {
  id: "oauth-provider",
  options: { disableJwtPlugin: true },
  schema: { oauthAccessToken: ofUser, oauthRefreshToken: ofUser },
} satisfies BetterAuthPlugin;

const of = (session: object) =>
  defineAuth({
    betterAuth: (defaults) => ({
      ...defaults,
      session: { ...defaults.session, ...session },
      rateLimit: { enabled: false },
      plugins: [
        admin(),
        deviceAuthorization(),
        emailOTP({ sendVerificationOTP: keep, storeOTP: "encrypted" }),
        magicLink({ sendMagicLink: keep }),
        oneTimeToken(),
        multiSession(),
        oauthProvider,
        phoneNumber({
          sendOTP: keep,
          signUpOnVerification: { getTempEmail: (phone) => `${phone.slice(1)}@example.com` },
        }),
      ],
    }),
  });

const db = database();
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, of({}));
  server = await startAuthServer(db, { definition: of({}) });
});
afterAll(() => server.close());

let people = 0;
const signUp = async () => {
  const { body } = await server.signUp({ ...ann, email: `ann-${++people}@example.com` });
  return body as { user: { id: string; email: string }; sessionToken: string };
};
const minutesLeft = async (sessionToken: string) => {
  const text =
    "select round(extract(epoch from expires_at - now()) / 60)::int as minutes from auth.session where token = $1";
  return (await db.sql<{ minutes: number }>(text, [sessionToken.split(".")[0]]))[0]?.minutes;
};

const impersonate = async (at: AuthServer) => {
  const [operator, user] = [await signUp(), await signUp()];
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [operator.user.id]);
  const answer = await at.post("/admin/impersonate-user", { userId: user.user.id }, { bearer: operator.sessionToken });
  expect(answer).toMatchObject({ status: 200, body: { user: { id: user.user.id } } });
  return { operator, user, sessionToken: answer.body.sessionToken as string, token: answer.body.token as string };
};

describe("a session that is opened for less than the usual time", () => {
  test("is not extended when it is used: an administrator is another user for an hour", async () => {
    const { sessionToken } = await impersonate(server);
    expect((await server.post("/token", undefined, { bearer: sessionToken })).status).toBe(200);
    expect(await minutesLeft(sessionToken)).toBe(60);
    await db.sql("update auth.session set expires_at = now() where token = $1", [sessionToken.split(".")[0]]);
    expect(await server.caller(sessionToken)).toBeNull();
  });

  test("likewise where usual sessions are shorter than that hour", async () => {
    const brief = await startAuthServer(db, { definition: of({ expiresIn: 30 * 60, updateAge: 0 }) });
    const { sessionToken } = await impersonate(brief);
    const earlier = "created_at = created_at - interval '50 minutes', expires_at = expires_at - interval '50 minutes'";
    await db.sql(`update auth.session set ${earlier} where token = $1`, [sessionToken.split(".")[0]]);
    expect((await brief.post("/token", undefined, { bearer: sessionToken })).status).toBe(200);
    expect(await minutesLeft(sessionToken)).toBe(10);
    await brief.close();
  });

  test("likewise one that is not to be remembered", async () => {
    const { user } = await signUp();
    await db.sql(`update auth."user" set phone_number = '+491', phone_number_verified = true where id = $1`, [user.id]);
    const credentials = { phoneNumber: "+491", password: ann.password, rememberMe: false };
    const { body } = await server.post("/sign-in/phone-number", credentials, { headers: { "svc-session": "token" } });
    expect((await server.post("/token", undefined, { bearer: body.sessionToken })).status).toBe(200);
    expect(await minutesLeft(body.sessionToken)).toBe(24 * 60);
  });
});

describe("a session in which an administrator acts as another user ends in every process", () => {
  const newPassword = "another horse";
  test.for<
    [what: string, end: (operator: { user: { id: string }; sessionToken: string }) => Promise<{ status: number }>]
  >([
    [
      "when the administrator is banned",
      async ({ user }) => {
        const other = await signUp();
        await db.sql(`update auth."user" set role = 'admin' where id = $1`, [other.user.id]);
        return server.post("/admin/ban-user", { userId: user.id }, { bearer: other.sessionToken });
      },
    ],
    [
      "with the administrator's password",
      ({ sessionToken: bearer }) =>
        server.post("/change-password", { currentPassword: ann.password, newPassword }, { bearer }),
    ],
    [
      "with all the administrator's sessions",
      ({ sessionToken: bearer }) => server.post("/sign-out-everywhere", {}, { bearer }),
    ],
    [
      "with the administrator's account",
      ({ sessionToken: bearer }) => server.post("/delete-user", { password: ann.password }, { bearer }),
    ],
  ])("%s", async ([, end]) => {
    const second = await startAuthServer(db, { definition: of({}) });
    await second.auth.listens();
    const { operator, user, sessionToken, token } = await impersonate(server);
    for (const held of [sessionToken, token]) {
      expect(await second.caller(held)).toMatchObject({ user: { id: user.user.id } });
    }
    expect((await end(operator)).status).toBe(200);
    for (const held of [sessionToken, token]) {
      await expect.poll(() => second.caller(held)).toBeNull();
      await expect.poll(() => server.caller(held)).toBeNull();
    }
    expect(await server.caller(user.sessionToken)).toMatchObject({ user: { id: user.user.id } });
    await second.close();
  });
});

test("a telephone number is its owner's, not who names it first at another endpoint", async () => {
  const email = "claims@example.com";
  const phone = "+4911";
  await server.post("/email-otp/send-verification-otp", { email, type: "sign-in" });
  const claim = await server.post("/sign-in/email-otp", { email, otp: sent, phoneNumber: phone });
  expect(claim).toMatchObject({ status: 400, body: { hint: "FIELD_NOT_ALLOWED" } });
  await server.post("/phone-number/send-otp", { phoneNumber: phone });
  const headers = { "svc-session": "token" };
  const owner = await server.post("/phone-number/verify", { phoneNumber: phone, code: sent }, { headers });
  expect(owner).toMatchObject({ status: 200, body: { user: { email: "4911@example.com", phoneNumber: phone } } });
});

test("a sign-out ends the sessions of all accounts of this browser, and of no other", async () => {
  const [one, two] = [await signUp(), await signUp()];
  const browser = new Browser(server);
  for (const { user } of [one, two]) {
    expect((await browser.post("/sign-in/email", { email: user.email, password: ann.password })).status).toBe(200);
  }
  const names = () => [...browser.jar.keys()].filter((name) => name.includes("_multi-"));
  expect(names()).toHaveLength(2);
  const tokens = [...browser.jar.values()].map((value) => decodeURIComponent(value));
  expect((await browser.post("/sign-out", {})).body).toEqual({ success: true });
  expect([...browser.jar.keys()]).toEqual([]);
  for (const token of tokens) await expect.poll(() => server.caller(token)).toBeNull();
  for (const { sessionToken } of [one, two]) expect(await server.caller(sessionToken)).not.toBeNull();
});

test("an account that was made in this browser is one of its accounts", async () => {
  const browser = new Browser(server);
  const [made, signedIn] = [`ann-${++people}@example.com`, (await signUp()).user.email];
  expect((await browser.post("/sign-up/email", { ...ann, email: made })).status).toBe(200);
  expect((await browser.post("/sign-in/email", { email: signedIn, password: ann.password })).status).toBe(200);
  const { body } = await server.get("/multi-session/list-device-sessions", { headers: { cookie: browser.cookie } });
  expect(body.map(({ user }: { user: { email: string } }) => user.email).sort()).toEqual([made, signedIn].sort());
});

test("a copy of the database has no link, no one-time token and no code by mail that would sign somebody in", async () => {
  const { sessionToken, user } = await signUp();
  await server.post("/sign-in/magic-link", { email: user.email });
  const link = sent;
  await server.post("/email-otp/send-verification-otp", { email: user.email, type: "sign-in" });
  const otp = sent;
  const { token } = (await server.get("/one-time-token/generate", { bearer: sessionToken })).body;
  const copy = JSON.stringify(await db.sql("select identifier, value from auth.verification"));
  for (const secret of [link, token]) expect(copy).not.toContain(secret);
  expect(copy).not.toContain(`"${otp}:`);

  const headers = { "svc-session": "token" };
  const opened = { status: 200, body: { user: { id: user.id } } };
  expect(await server.post("/one-time-token/verify", { token }, { headers })).toMatchObject(opened);
  expect(await server.get(`/magic-link/verify?token=${link}`, { headers })).toMatchObject(opened);
  expect(await server.post("/sign-in/email-otp", { email: user.email, otp }, { headers })).toMatchObject(opened);
});

test("a device gets a session of the user who has approved it, and no other device does", async () => {
  const { sessionToken, user } = await signUp();
  const { device_code, user_code } = (await server.post("/device/code", { client_id: "cli" })).body;
  const grant = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code, client_id: "cli" };
  expect(await server.post("/device/token", grant)).toMatchObject({
    status: 400,
    body: { error: "authorization_pending", code: "BAD_REQUEST" }, // what a device reads (RFC 8628)
  });
  expect((await server.get(`/device?user_code=${user_code}`, { bearer: sessionToken })).status).toBe(200);
  await db.sql("update auth.device_code set last_polled_at = null"); // it may ask every five seconds
  expect((await server.post("/device/approve", { userCode: user_code }, { bearer: sessionToken })).status).toBe(200);
  const { access_token } = (await server.post("/device/token", grant)).body;
  expect(await server.caller(access_token)).toMatchObject({ user: { id: user.id } });
  expect(await server.caller(access_token.split(".")[0])).toBeNull();
  expect(await server.post("/device/token", grant)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
});

test("a device that was approved gets no session after its user has ended all of them", async () => {
  const { sessionToken } = await signUp();
  const { device_code, user_code } = (await server.post("/device/code", { client_id: "cli" })).body;
  const grant = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code, client_id: "cli" };
  await server.get(`/device?user_code=${user_code}`, { bearer: sessionToken });
  expect((await server.post("/device/approve", { userCode: user_code }, { bearer: sessionToken })).status).toBe(200);
  expect((await server.post("/sign-out-everywhere", {}, { bearer: sessionToken })).status).toBe(200);
  expect(await server.post("/device/token", grant)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
});

test("other applications keep a user's tokens after another password, and not after the end of all sessions", async () => {
  const [one, other, forgetful] = [await signUp(), await signUp(), await signUp()];
  const currentPassword = ann.password;
  for (const { user } of [one, other, forgetful]) {
    for (const table of ["access", "refresh"]) {
      await db.sql(`insert into auth.oauth_${table}_token (id, user_id) values ($1, $1)`, [user.id]);
    }
  }
  const holders = async () => {
    const rows = await db.sql(`select user_id from auth.oauth_access_token
                               union all select user_id from auth.oauth_refresh_token`);
    return rows.map(({ user_id }) => user_id).sort();
  };
  const passwords = { currentPassword, newPassword: "another horse" };
  const changed = await server.post("/change-password", passwords, { bearer: one.sessionToken });
  expect(changed.status).toBe(200);
  expect(await holders()).toHaveLength(6);
  expect((await server.post("/sign-out-everywhere", {}, { bearer: one.sessionToken })).status).toBe(200);
  // A reset by mail ends all sessions too: somebody else may have used them.
  const { email } = forgetful.user;
  await server.post("/email-otp/request-password-reset", { email });
  const reset = { email, otp: sent, password: "another horse" };
  expect((await server.post("/email-otp/reset-password", reset)).status).toBe(200);
  expect(await holders()).toEqual([other.user.id, other.user.id]);
});
