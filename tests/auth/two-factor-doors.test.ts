// If this file fails, somebody without the second factor gets in where nobody thought of it.
import { twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/define/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";
import { totp } from "../support/totp.ts";

const page = "https://front.test";
const mails: { email: string; url: string }[] = [];
const definition = defineAuth({
  emailAndPassword: { sendResetPassword: (mail) => void mails.push(mail) },
  oauth: { allowedReturnModes: ["token", "cookie"] },
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    // Somebody who came by Google has no password to give.
    plugins: [twoFactor({ allowPasswordless: true })],
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
