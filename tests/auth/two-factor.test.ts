// If this file fails, a second factor can be bypassed, or locks its owner out.
import { twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { totp, wrong } from "../support/totp.ts";
import { asked, Browser, enrolled, person, trustAnother, trusted } from "./second-factor.ts";

const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false }, // three tries in ten seconds are too few for a test
    plugins: [twoFactor({ issuer: "svc" })],
  }),
});

const db = database();
let server: AuthServer;
let counting: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
  counting = await startAuthServer(db, { definition, limits: { signInsPerAccount: 3 } });
});
afterAll(() => Promise.all([server.close(), counting.close()]));

describe("switching it on", () => {
  test("takes the password, and a code that shows that the app knows the secret", async () => {
    const browser = new Browser(server);
    const who = person();
    await browser.post("/sign-up/email", who);
    expect(await browser.post("/two-factor/enable", { password: "wrong horse" })).toMatchObject({
      status: 400,
      body: { code: "BAD_REQUEST", hint: "INVALID_PASSWORD" },
    });
    const { body } = await browser.post("/two-factor/enable", { password: who.password });
    expect(body).toMatchObject({ totpURI: expect.stringMatching(/^otpauth:\/\/totp\/svc:/) });
    expect(await browser.post("/two-factor/verify-totp", { code: wrong(totp(body.totpURI)) })).toMatchObject({
      status: 401,
      body: { code: "UNAUTHORIZED", hint: "INVALID_CODE" },
    });
    // It is not on yet: a sign-in still needs only the password.
    expect((await server.post("/sign-in", who)).status).toBe(200);
    expect((await browser.post("/two-factor/verify-totp", { code: totp(body.totpURI) })).status).toBe(200);
    expect(await server.post("/sign-in", who)).toMatchObject({ status: 403, body: { code: "TWO_FACTOR_REQUIRED" } });
  });

  test("gives the browser a new session, in our cookie, and no token to its scripts", async () => {
    const { browser, id, verified } = await enrolled(server);
    const set = verified.headers.getSetCookie().find((line) => line.startsWith("__Secure-authlib.session_token="));
    expect(set).toMatch(/=[A-Za-z0-9]{32}\.[\w%]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    expect(verified.body).not.toHaveProperty("token");
    expect(await browser.me()).toBe(id);
  });

  test("ends the sessions that began without it, and their JWTs get no successor", async () => {
    const who = person();
    const old = (await server.signUp({ ...who })).body;
    const elsewhere = (await server.post("/sign-in", who)).body;
    const browser = new Browser(server);
    await browser.post("/sign-in/email", who);
    const { body } = await browser.post("/two-factor/enable", { password: who.password });
    await browser.post("/two-factor/verify-totp", { code: totp(body.totpURI) });
    for (const { sessionToken } of [old, elsewhere]) {
      expect(await server.post("/token", undefined, { bearer: sessionToken })).toMatchObject({ status: 401 });
    }
    expect(await browser.me()).toBe(old.user.id);
  });

  test("works with a session token too, which is answered with the new one", async () => {
    const who = person();
    const { user, sessionToken } = (await server.signUp({ ...who })).body;
    const enable = await server.post("/two-factor/enable", { password: who.password }, { bearer: sessionToken });
    const code = totp(enable.body.totpURI);
    const answer = await server.post("/two-factor/verify-totp", { code }, { bearer: sessionToken });
    expect(answer).toMatchObject({ status: 200, body: { user: { id: user.id } } });
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await server.caller(sessionToken)).toBeNull();
    expect(await server.caller(answer.body.sessionToken)).toMatchObject({ user });
    expect(await server.caller(answer.body.token)).toMatchObject({ user });
  });
});

describe("signing in with it, in cookie style", () => {
  test("asks for the code after the password, and opens no session before", async () => {
    const { id, totpURI, ...who } = await enrolled(server);
    const browser = new Browser(server);
    const first = await browser.post("/sign-in/email", { email: who.email, password: who.password });
    expect(first).toMatchObject({ status: 200, body: { twoFactorRedirect: true, twoFactorMethods: ["totp"] } });
    expect([...browser.jar.keys()]).toEqual(["__Secure-authlib.two_factor"]);
    expect(await browser.me()).toBeNull();
    const second = await browser.post("/two-factor/verify-totp", { code: totp(totpURI) });
    expect(second).toMatchObject({ status: 200, body: { user: { id } } });
    expect(second.body).not.toHaveProperty("token");
    expect([...browser.jar.keys()]).toEqual(["__Secure-authlib.session_token"]);
    expect(await browser.me()).toBe(id);
  });

  test("refuses a wrong code, and a challenge that has been used", async () => {
    const { totpURI, email, password } = await enrolled(server);
    const browser = await asked(server, { email, password });
    const challenge = browser.cookie;
    const code = totp(totpURI);
    expect(await browser.post("/two-factor/verify-totp", { code: wrong(code) })).toMatchObject({ status: 401 });
    expect(await browser.me()).toBeNull();
    expect(await browser.post("/two-factor/verify-totp", { code })).toMatchObject({ status: 200 });
    const replayed = await server.post("/two-factor/verify-totp", { code }, { headers: { origin, cookie: challenge } });
    expect(replayed).toMatchObject({ status: 401, body: { hint: "INVALID_TWO_FACTOR_COOKIE" } });
    expect(replayed.headers.getSetCookie().join()).not.toContain("session_token");
  });

  test("one right code, brought many times at once, opens one session", async () => {
    const { id, totpURI, email, password } = await enrolled(server);
    const browser = await asked(server, { email, password });
    const options = { headers: { origin, cookie: browser.cookie } };
    const count = async () => (await db.sql("select 1 from auth.session where user_id = $1", [id])).length;
    const before = await count();
    const code = totp(totpURI);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.post("/two-factor/verify-totp", { code }, options)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await count()) - before).toBe(1);
  });

  test("gives five tries for one password, and locks the account after ten", async () => {
    const { totpURI, email, password } = await enrolled(server);
    const statuses: number[] = [];
    for (let round = 0; round < 2; round++) {
      const browser = await asked(server, { email, password });
      for (let attempt = 0; attempt < 6; attempt++) {
        statuses.push((await browser.post("/two-factor/verify-totp", { code: wrong(totp(totpURI)) })).status);
      }
    }
    expect(statuses.slice(0, 6)).toEqual([401, 401, 401, 401, 401, 400]);
    const browser = await asked(server, { email, password });
    expect(await browser.post("/two-factor/verify-totp", { code: totp(totpURI) })).toMatchObject({
      status: 429,
      body: { code: "RATE_LIMITED", hint: "ACCOUNT_TEMPORARILY_LOCKED" },
    });
  });

  test("a backup code works once", async () => {
    const { id, email, password, backupCodes } = await enrolled(server);
    const [code] = backupCodes;
    const browser = await asked(server, { email, password });
    expect(await browser.post("/two-factor/verify-backup-code", { code })).toMatchObject({ status: 200 });
    expect(await browser.me()).toBe(id);
    const again = await asked(server, { email, password });
    expect(await again.post("/two-factor/verify-backup-code", { code })).toMatchObject({ status: 401 });
    expect(await again.me()).toBeNull();
  });

  test("a trusted device is asked for the password alone, another one is not trusted", async () => {
    const { id, email, password, totpURI } = await enrolled(server);
    const browser = await asked(server, { email, password });
    await browser.post("/two-factor/verify-totp", { code: totp(totpURI), trustDevice: true });
    const trust = browser.jar.get("__Secure-authlib.trust_device");
    expect(trust).toBeDefined();
    await browser.post("/sign-out", {});
    expect(await browser.post("/sign-in/email", { email, password })).toMatchObject({ body: { user: { id } } });
    expect(await browser.me()).toBe(id);
    expect(browser.jar.get("__Secure-authlib.trust_device")).not.toBe(trust);

    const thief = new Browser(server);
    thief.jar.set("__Secure-authlib.trust_device", trust ?? "");
    expect((await thief.post("/sign-in/email", { email, password })).body).toMatchObject({ twoFactorRedirect: true });
  });

  test.each(["change-password", "sign-out-everywhere", "enable"])(
    "no device is trusted any more after %s",
    async (what) => {
      const { email, password, totpURI } = await enrolled(server);
      const device = await asked(server, { email, password });
      await device.post("/two-factor/verify-totp", { code: totp(totpURI), trustDevice: true });

      const newPassword = what === "change-password" ? "another long password" : password;
      if (what === "change-password") await device.post("/change-password", { currentPassword: password, newPassword });
      else if (what === "sign-out-everywhere") await device.post("/sign-out-everywhere", {});
      else {
        expect((await device.post("/two-factor/disable", { password })).status).toBe(200);
        // The plugin forgets the browser that asks. Another one was trusted, too.
        await trustAnother(db, email);
        const { body } = await device.post("/two-factor/enable", { password });
        expect((await device.post("/two-factor/verify-totp", { code: totp(body.totpURI) })).status).toBe(200);
      }
      expect(await trusted(db, email)).toEqual([]);
      const again = await device.post("/sign-in/email", { email, password: newPassword });
      expect(again.body).toMatchObject({ twoFactorRedirect: true });
    },
  );
});

describe("signing in with it, in token style", () => {
  test("takes the code along with the password", async () => {
    const { id, email, password, totpURI } = await enrolled(server);
    const sessions = () => db.sql("select token from auth.session where user_id = $1", [id]);
    const before = await sessions();
    const refused = await server.post("/sign-in", { email, password });
    expect(refused).toMatchObject({ status: 403, body: { code: "TWO_FACTOR_REQUIRED", hint: /code/ } });
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(await sessions()).toEqual(before);
    const bad = await server.post("/sign-in", { email, password, code: wrong(totp(totpURI)) });
    expect(bad).toMatchObject({ status: 401, body: { code: "INVALID_CREDENTIALS" } });
    const blind = await server.post("/sign-in", { email, password: "wrong horse", code: totp(totpURI) });
    expect(blind).toMatchObject({ status: 401, body: { code: "INVALID_CREDENTIALS" } });
    expect(await sessions()).toEqual(before);
    const { status, body } = await server.post("/sign-in", { email, password, code: totp(totpURI) });
    expect(status).toBe(200);
    expect(body).toEqual({
      user: { id, email, name: "Ann" },
      sessionToken: expect.any(String),
      token: expect.any(String),
    });
    expect(await server.caller(body.token)).toMatchObject({ user: body.user });
  });

  test("or a backup code, once", async () => {
    const { email, password, backupCodes } = await enrolled(server);
    const body = { email, password, backupCode: backupCodes[1] };
    expect((await server.post("/sign-in", body)).status).toBe(200);
    expect(await server.post("/sign-in", body)).toMatchObject({ status: 401, body: { code: "INVALID_CREDENTIALS" } });
  });

  test("wrong codes count as wrong passwords do", async () => {
    const { email, password, totpURI } = await enrolled(server);
    const tries = ["wrong horse", password, password].map((candidate) =>
      counting.post("/sign-in", { email, password: candidate, code: wrong(totp(totpURI)) }),
    );
    expect((await Promise.all(tries)).map(({ status }) => status)).toEqual([401, 401, 401]);
    const late = await counting.post("/sign-in", { email, password, code: totp(totpURI) });
    expect(late).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
    expect(late.body).not.toHaveProperty("hint"); // it is not the plugin's own lock
  });

  test("a right password without the code is no success: it does not make its sender known", async () => {
    const { email, password } = await enrolled(server);
    const known = () => db.sql("select 1 from auth.attempt where subject like '%@%'");
    const before = (await known()).length;
    expect(await server.post("/sign-in", { email, password })).toMatchObject({ status: 403 });
    expect((await known()).length).toBe(before);
  });
});

describe("what a thief of the password saw earlier", () => {
  test("a code that has opened a session opens no other", async () => {
    const { id, totpURI, email, password } = await enrolled(server);
    const code = totp(totpURI);
    expect((await server.post("/sign-in", { email, password, code })).status).toBe(200);
    const sessions = () => db.sql("select token from auth.session where user_id = $1 order by token", [id]);
    const before = await sessions();
    const browser = await asked(server, { email, password });
    expect(await browser.post("/two-factor/verify-totp", { code, trustDevice: true })).toMatchObject({
      status: 401,
      body: { hint: "INVALID_CODE" },
    });
    expect([...browser.jar.keys()].filter((name) => /session_token|trust_device/.test(name))).toEqual([]);
    expect(await server.post("/sign-in", { email, password, code })).toMatchObject({
      status: 401,
      body: { code: "INVALID_CREDENTIALS" },
    });
    expect(await sessions()).toEqual(before);
  });

  test("a sign-in that began with the old password ends with it", async () => {
    const { totpURI, email, password, browser } = await enrolled(server);
    const thief = await asked(server, { email, password });
    const changed = await browser.post("/change-password", { currentPassword: password, newPassword: "better horse" });
    expect(changed.status).toBe(200);
    expect(await thief.post("/two-factor/verify-totp", { code: totp(totpURI) })).toMatchObject({
      status: 401,
      body: { hint: "INVALID_TWO_FACTOR_COOKIE" },
    });
    expect(await thief.me()).toBeNull();
  });
});
