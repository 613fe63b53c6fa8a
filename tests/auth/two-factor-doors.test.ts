// If this file fails, some way of signing in does not ask for the second factor.
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { admin, emailOTP, magicLink, multiSession, twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";
import { totp } from "../support/totp.ts";

const page = "https://front.test";
const mails: { email: string; url: string }[] = [];
const links: { email: string; url: string }[] = [];
const codes: { email: string; otp: string }[] = [];

/** Like `@better-auth/passkey`, with signatures that are always right. */
const enter = (path: string) =>
  createAuthEndpoint(
    path,
    { method: "POST", body: z.object({ response: z.object({ id: z.string(), response: z.object({}).loose() }) }) },
    async (ctx) => {
      const { internalAdapter } = ctx.context;
      const user = await internalAdapter.findUserById(ctx.body.response.id);
      if (!user) throw new Error("nobody");
      await setSessionCookie(ctx, { session: await internalAdapter.createSession(user.id), user });
      return ctx.json({});
    },
  );
const passkey = {
  id: "passkey",
  endpoints: { verify: enter("/passkey/verify-authentication"), register: enter("/passkey/verify-registration") },
};

const definition = defineAuth({
  emailAndPassword: { sendResetPassword: (mail) => void mails.push(mail) },
  oauth: { allowedReturnModes: ["token", "cookie"] },
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    // A user who signed in with Google has no password.
    plugins: [
      twoFactor({ allowPasswordless: true }),
      magicLink({ sendMagicLink: (mail) => void links.push(mail) }),
      emailOTP({ sendVerificationOTP: async (mail) => void codes.push(mail) }),
      multiSession(),
      admin(),
      passkey,
    ],
  }),
});

const db = database();
let provider: ScriptedProvider;
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  provider = await startScriptedProvider();
  server = await startAuthServer(db, { google: provider.settings, definition, frontendOrigins: [page] });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

const claims = { sub: "gina-1", email: "gina@example.com", email_verified: true, name: "Gina" };
const cookieMode = { callbackURL: `${page}/done`, oauthReturnMode: "cookie" };
const json = { "content-type": "application/json", origin: page };
const post = (browser: Browser, path: string, body: object) =>
  browser.go(`/api/auth${path}`, { method: "POST", headers: json, body: JSON.stringify(body) });
const of = (list: { email: string }[], email: string) => list.findLast((mail) => mail.email === email);
const names = (browser: Browser) =>
  [...(browser.cookies.get(origin)?.keys() ?? [])].map((name) => name.replace("__Secure-authlib.", ""));
const who = async (browser: Browser) => JSON.parse((await browser.go("/api/auth/me")).text).user.email;
const status = async (browser: Browser) => (await browser.go("/api/auth/me")).status;

async function enrol(bearer: string, password?: string): Promise<string> {
  const { totpURI } = (await server.post("/two-factor/enable", { password }, { bearer })).body;
  const verified = await server.post("/two-factor/verify-totp", { code: totp(totpURI) }, { bearer });
  expect(verified.status).toBe(200);
  return totpURI;
}

describe("a sign-in by a provider", () => {
  let uri: string;
  test("is asked for nothing more before there is a second factor", async () => {
    const first = await new Browser(server).signIn(provider, { claims }, { callbackURL: page });
    const { sessionToken } = (await exchange(server, results(first).code)).body;
    uri = await enrol(sessionToken);
  });

  test("in cookie mode comes back without a session, and goes on with the code", async () => {
    const browser = new Browser(server);
    const back = await browser.signIn(provider, { claims }, cookieMode);
    expect(results(back)).toEqual({ error: "two_factor_required" });
    expect([...(browser.cookies.get(origin)?.keys() ?? [])]).toEqual(["__Secure-authlib.two_factor"]);
    expect(await status(browser)).toBe(401);
    expect((await post(browser, "/two-factor/verify-totp", { code: totp(uri) })).status).toBe(200);
    expect(await status(browser)).toBe(200);
  });

  test("in token mode comes back without a code", async () => {
    const browser = new Browser(server);
    const back = await browser.signIn(provider, { claims }, { callbackURL: page });
    expect(results(back)).toEqual({ error: "two_factor_required" });
    expect(browser.cookies.get(origin)?.size).toBe(0);
  });

  test("that was half done when the factor was switched on is not completed without it", async () => {
    const late = { ...claims, sub: "late-1", email: "late@example.com" };
    const browsers = [new Browser(server), new Browser(server)] as const;
    const first = await browsers[0].signIn(provider, { claims: late }, { callbackURL: page });
    const second = await browsers[1].signIn(provider, { claims: late }, { callbackURL: page });
    await enrol((await exchange(server, results(first).code)).body.sessionToken);
    expect(await exchange(server, results(second).code)).toMatchObject({
      status: 403,
      body: { code: "TWO_FACTOR_REQUIRED" },
    });
  });
});

describe("a sign-in by a plugin that knows no second factor", () => {
  const email = "mia@example.com";
  let uri: string;
  let device: Browser;
  const byLink = async (browser: Browser, more: object = {}) => {
    await post(browser, "/sign-in/magic-link", { email, ...more });
    return browser.go(String((of(links, email) as { url?: string } | undefined)?.url));
  };
  const byCode = async (browser: Browser, email: string) => {
    await post(browser, "/email-otp/send-verification-otp", { email, type: "sign-in" });
    return post(browser, "/sign-in/email-otp", { email, otp: (of(codes, email) as { otp?: string }).otp });
  };
  const sessions = async () =>
    (await db.sql(`select 1 from auth.session s join auth."user" u on u.id = s.user_id where u.email = $1`, [email]))
      .length;

  beforeAll(async () => {
    const { sessionToken } = (await server.signUp({ ...ann, email })).body;
    await db.sql(`update auth."user" set email_verified = true where email = $1`, [email]);
    uri = await enrol(sessionToken, ann.password);
  });

  test("is asked for the code after a code by mail, and has no session before", async () => {
    const before = await sessions();
    device = new Browser(server);
    const answer = await byCode(device, email);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({ twoFactorRedirect: true, twoFactorMethods: ["totp"] });
    expect(names(device)).toEqual(["two_factor"]);
    expect([await status(device), await sessions()]).toEqual([401, before]);
    const verified = await post(device, "/two-factor/verify-totp", { code: totp(uri), trustDevice: true });
    expect([verified.status, await status(device)]).toEqual([200, 200]);
  });

  test("comes back from a link by mail without a session, to where the code is asked for", async () => {
    const before = await sessions();
    const browser = new Browser(server);
    const back = await byLink(browser, { callbackURL: `${page}/in?at=1` });
    expect([back.status, back.location?.href]).toEqual([302, `${page}/in?at=1&error=two_factor_required`]);
    expect(names(browser)).toEqual(["two_factor"]);
    expect([await status(browser), await sessions()]).toEqual([401, before]);
  });

  test("is refused where a token is brought along, which nothing could stand for", async () => {
    const bearer = (await server.signUp({ ...ann, email: "other@example.com" })).body.sessionToken;
    await server.post("/email-otp/send-verification-otp", { email, type: "sign-in" }, { bearer });
    const { otp } = of(codes, email) as { otp?: string };
    const answer = await server.post("/sign-in/email-otp", { email, otp }, { bearer });
    expect(answer).toMatchObject({ status: 403, body: { code: "TWO_FACTOR_REQUIRED" } });
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test("is refused where tokens are asked for, likewise", async () => {
    const before = await sessions();
    await server.post("/email-otp/send-verification-otp", { email, type: "sign-in" }, { headers: { origin } });
    const { otp } = of(codes, email) as { otp?: string };
    const headers = { origin, "svc-session": "token" };
    const answer = await server.post("/sign-in/email-otp", { email, otp }, { headers });
    expect(answer).toMatchObject({ status: 403, body: { code: "TWO_FACTOR_REQUIRED" } });
    expect([answer.headers.getSetCookie(), await sessions()]).toEqual([[], before]);
  });

  test("is spared the code on a device that was trusted, and on no other", async () => {
    const cookie = device.cookies.get(origin)?.get("__Secure-authlib.trust_device");
    if (!cookie) throw new Error("no trusted device");
    const jar = (value: string) => {
      const browser = new Browser(server);
      browser.cookies.set(origin, new Map([["__Secure-authlib.trust_device", { value, path: "/" }]]));
      return browser;
    };
    const trusted = jar(cookie.value);
    await byCode(trusted, email);
    expect(await status(trusted)).toBe(200);
    await server.signUp({ ...ann, email: "nobody@example.com" });
    for (const value of [cookie.value.replace(/^./, (letter) => (letter === "A" ? "B" : "A")), "x!trust-device-x.y"]) {
      const stranger = jar(value);
      await byCode(stranger, email);
      expect(await status(stranger)).toBe(401);
    }
    await db.sql("delete from auth.verification where identifier like 'trust-device-%'");
    await byCode(trusted, email);
    expect(names(trusted)).toContain("two_factor");
  });

  test("stays what it was for who has none, and for accounts that are turned to or stood in for", async () => {
    const mine = await device.go("/api/auth/multi-session/list-device-sessions");
    const [{ session, user }] = JSON.parse(mine.text);
    expect((await byCode(device, "plain@example.com")).status).toBe(200);
    expect(await who(device)).toBe("plain@example.com");
    await post(device, "/multi-session/set-active", { sessionToken: session.token });
    expect(await who(device)).toBe(email);

    await db.sql(`update auth."user" set role = 'admin' where email = 'plain@example.com'`);
    const operator = new Browser(server);
    await byCode(operator, "plain@example.com");
    expect((await post(operator, "/admin/impersonate-user", { userId: user.id })).status).toBe(200);
    expect(await who(operator)).toBe(email);
  });
});

describe("a passkey", () => {
  /** Of the authenticator: a digest of the service's name, flags, a counter. 1: the user was there, 4: was verified. */
  const data = (flags: number) => Buffer.concat([Buffer.alloc(32), Buffer.from([flags, 0, 0, 0, 1])]);
  const signIn = async (path: string, response: object) => {
    const browser = new Browser(server);
    const answer = await post(browser, path, { response: { id, response } });
    return [answer.status, names(browser).includes("session_token"), JSON.parse(answer.text).twoFactorRedirect];
  };
  const verify = "/passkey/verify-authentication";
  let id: string;
  beforeAll(async () => {
    const { sessionToken, user } = (await server.signUp({ ...ann, email: "key@example.com" })).body;
    await enrol(sessionToken, ann.password);
    id = user.id;
  });

  test("that its owner has unlocked needs no code", async () => {
    const unlocked = { authenticatorData: data(1 | 4).toString("base64url") };
    expect(await signIn(verify, unlocked)).toEqual([200, true, undefined]);
  });

  test.for<[what: string, path: string, response: object]>([
    ["was merely touched", verify, { authenticatorData: data(1).toString("base64url") }],
    ["does not say so", verify, {}],
    ["says so in another spelling", verify, { authenticatorData: `${data(5).toString("base64url")}=` }],
    ["is only being registered", "/passkey/verify-registration", { authenticatorData: data(5).toString("base64url") }],
  ])("that %s is asked for the code", async ([, path, response]) => {
    expect(await signIn(path, response)).toEqual([200, false, true]);
  });
});

test("a sign-in that is not finished leaves no account in the browser", async () => {
  const email = "two@example.com";
  const { sessionToken } = (await server.signUp({ ...ann, email })).body;
  await enrol(sessionToken, ann.password);
  const browser = new Browser(server);
  const answer = await post(browser, "/sign-in/email", { email, password: ann.password });
  expect([answer.status, names(browser)]).toEqual([200, ["two_factor"]]);
});

describe("a password that was reset by mail", () => {
  test("is still but the first factor", async () => {
    const { sessionToken } = (await server.signUp(ann)).body;
    const uri = await enrol(sessionToken, ann.password);
    await server.post("/request-password-reset", { email: ann.email, redirectTo: page });
    await expect.poll(() => mails.length).toBe(1);
    const token = new URL(mails[0]?.url ?? "").searchParams.get("token");
    const newPassword = "another horse";
    const reset = await server.post("/reset-password", { token, newPassword });
    expect(reset).toMatchObject({ status: 200, body: { success: true } });
    expect(reset.headers.getSetCookie()).toEqual([]);
    const credentials = { email: ann.email, password: newPassword };
    expect(await server.post("/sign-in", credentials)).toMatchObject({ status: 403 });
    expect(await server.post("/sign-in", { ...credentials, code: totp(uri) })).toMatchObject({ status: 200 });
  });
});
