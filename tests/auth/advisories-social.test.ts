// Advisories about social sign-in, mostly of the library, tried on this service. A failing test means that its advisory
// applies here: https://github.com/better-auth/better-auth/security/advisories
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

const db = database();
const front = "https://front.test";
const victim = { sub: "victim", email: "victim@example.com", email_verified: true, name: "Victim" };
let provider: ScriptedProvider;
let server: AuthServer;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const definition = { oauth: { allowedReturnModes: ["token", "cookie"] as const } };
  server = await startAuthServer(db, { google: provider.settings, definition, frontendOrigins: [front] });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

const stateOf = (location: URL | null) => location?.searchParams.get("state") ?? "";
const nonceOf = (location: URL | null) => location?.searchParams.get("nonce") ?? "";

describe("where the browser is sent", () => {
  test("GHSA-36rg-gfq2-3h56: other parameters that name a place, or a place in another parameter's value", async () => {
    const places = {
      errorCallbackURL: "https://evil.test",
      newUserCallbackURL: "//evil.test",
      redirectTo: "https://evil.test",
    };
    const browser = new Browser(server);
    const { location } = await browser.begin({ callbackURL: front, ...places });
    expect(location?.href).not.toContain("evil");
    const failed = await browser.back({
      state: stateOf(location),
      error: "x",
      ...places,
      callbackURL: "https://evil.test",
    });
    expect(failed.location?.href).toBe(`${front}/?error=provider_error`);
    const signedIn = await browser.signIn(provider, { claims: { ...victim } }, { callbackURL: front, ...places });
    expect(signedIn.location?.origin).toBe(front);
  });

  test("GHSA-9x4v-xfq5-m8x5: HTML in a parameter, given back as a page", async () => {
    const html = "<img src=x onerror=alert(1)>";
    const browser = new Browser(server);
    const pages = [
      await browser.back({ state: html, error: html }),
      await browser.begin({ callbackURL: html }),
      await browser.begin({ provider: html }),
      await browser.begin({ oauthReturnMode: html }),
    ];
    for (const page of pages) {
      expect(page.status).toBeGreaterThanOrEqual(400);
      expect(page.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      expect(page.text).not.toContain("<img");
    }
    const { location } = await browser.begin({ callbackURL: front });
    const told = await browser.back({
      state: stateOf(location),
      error: html,
      error_description: html,
      error_uri: html,
    });
    expect(told.location?.href).toBe(`${front}/?error=provider_error`);
    expect(told.text).toBe("");
  });
});

describe("whose account it is", () => {
  test("GHSA-qq9h-g4jm-xgf3: the proof of a mailbox turns a stranger's sign-up, password and sessions into the owner's", async () => {
    const claims = { ...victim, sub: "squatted-2", email: "squatted2@example.com" };
    const mallory = (await server.signUp({ email: claims.email, password: "correct horse", name: "Mallory" })).body;
    for (const oauthReturnMode of ["token", "cookie"]) {
      const browser = new Browser(server);
      const page = await browser.signIn(provider, { claims }, { callbackURL: front, oauthReturnMode });
      expect(results(page)).toEqual({ error: "account_not_linked" });
      expect((await browser.go("/api/auth/me")).status).toBe(401); // the victim is not put into Mallory's account either
    }
    expect(await server.caller(mallory.sessionToken)).toMatchObject({ user: { name: "Mallory" } });
  });

  test("GHSA-r4xp-prcw-77qf: a profile that comes with the request instead of from the provider", async () => {
    const profile = JSON.stringify(victim);
    const browser = new Browser(server);
    const { location } = await browser.begin({ callbackURL: front });
    const page = await browser.back({ state: stateOf(location), profile, user: profile, userInfo: profile, code: "x" });
    expect(results(page)).toEqual({ error: "provider_error" });
    expect((await server.get(`/oauth-proxy-callback?profile=x&callbackURL=${front}`)).status).toBe(404);
  });

  test("GHSA-2vg6-77g8-24mp: what outlives a user who was deleted", async () => {
    const claims = { ...victim, sub: "short-lived", email: "short@example.com" };
    const browser = new Browser(server);
    const { code } = results(await browser.signIn(provider, { claims }, { callbackURL: front }));
    await browser.signIn(provider, { claims }, { callbackURL: front, oauthReturnMode: "cookie" });
    expect((await browser.go("/api/auth/me")).status).toBe(200);
    await db.sql('delete from auth."user" where email = $1', [claims.email]);
    expect((await browser.go("/api/auth/me")).status).toBe(401);
    expect((await exchange(server, code)).status).toBe(401);
  });
});

describe("state and PKCE", () => {
  test("GHSA-wxw3-q3m9-c3jr: the code of one flow under the state of another, in one browser", async () => {
    const browser = new Browser(server);
    const [one, two] = [await browser.begin({ callbackURL: front }), await browser.begin({ callbackURL: front })];
    const code = provider.code(nonceOf(one.location), { claims: { ...victim } });
    expect(results(await browser.back({ state: stateOf(two.location), code }))).toEqual({ error: "provider_error" });
  });

  test("GHSA-9h47-pqcx-hjr4: plain PKCE, and an ID token with alg none, because the provider offers them", async () => {
    const lax = await startScriptedProvider();
    lax.metadata = {
      code_challenge_methods_supported: ["plain"],
      id_token_signing_alg_values_supported: ["none"],
    };
    const service = await startAuthServer(db, { google: lax.settings, frontendOrigins: [front] });
    const browser = new Browser(service);
    const { location } = await browser.begin({ callbackURL: front });
    expect(location?.searchParams.get("code_challenge_method")).toBe("S256");
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const code = lax.code(nonceOf(location), {
      claims: { ...victim },
      idToken: (it) => `${part({ alg: "none" })}.${part(it)}.`,
    });
    expect(results(await browser.back({ state: stateOf(location), code }))).toEqual({ error: "provider_error" });
    await service.close();
    await lax.close();
  });

  test("CVE-2026-121802: a state that the caller chose, made good by the server", async () => {
    const chosen = "A".repeat(43);
    const browser = new Browser(server);
    const { location } = await browser.begin({
      callbackURL: front,
      state: chosen,
      nonce: chosen,
      code_challenge: chosen,
    });
    for (const name of ["state", "nonce", "code_challenge"]) expect(location?.searchParams.get(name)).not.toBe(chosen);
    expect((await browser.back({ state: chosen, code: "x" })).status).toBe(400);
  });

  test("GHSA-965c-763c-88jm: a state that is taken for a token of another kind", async () => {
    const { location } = await new Browser(server).begin({ callbackURL: front, email: victim.email });
    const state = stateOf(location);
    expect((await exchange(server, state)).status).toBe(401);
    expect((await server.post("/token", undefined, { bearer: state })).status).toBe(401);
    for (const path of ["/verify-email", "/magic-link/verify"]) {
      const answer = await fetch(`${server.url}/api/auth${path}?token=${state}&callbackURL=/`, { redirect: "manual" });
      expect(answer.headers.getSetCookie().join()).not.toContain("session_token=");
      expect(answer.headers.get("location") ?? "").not.toContain("code=");
    }
    expect(await server.caller(state)).toBeNull();
  });
});

describe("once is once", () => {
  test("GHSA-7w99-5wm4-3g79: one authorization code, or one state, brought many times at the same moment", async () => {
    const claims = { ...victim, sub: "racer", email: "racer@example.com" };
    const browser = new Browser(server);
    const { location } = await browser.begin({ callbackURL: front });
    const query = { state: stateOf(location), code: provider.code(nonceOf(location), { claims }) };
    const cookies = structuredClone(browser.cookies);
    const tabs = Array.from({ length: 20 }, () => {
      const tab = new Browser(server);
      for (const [of, jar] of cookies) tab.cookies.set(of, structuredClone(jar));
      return tab.back(query);
    });
    const statuses = (await Promise.all(tabs)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([302, ...Array(19).fill(400)]);
  });
});

describe("doors beside the door", () => {
  test("GHSA-x732-6j76-qmhm: a path that is written with more slashes than it has", async () => {
    const post = {
      method: "POST",
      body: '{"code":"x"}',
      headers: { "content-type": "application/json", origin: front },
    };
    for (const path of [
      "//oauth/exchange",
      "/oauth//exchange",
      "/oauth/exchange/",
      "/oauth/./exchange%2f",
      "/OAuth/exchange",
    ]) {
      expect((await fetch(`${server.url}/api/auth${path}`, post)).status).toBe(404);
    }
    for (const path of ["//callback/google", "/callback//google", "/callback/google/", "/callback/Google"]) {
      expect((await server.get(`${path}?state=x&code=x`)).status).toBe(404);
    }
  });

  test("the library's own routes of social sign-in do not exist", async () => {
    const posts = [
      "/sign-in/social",
      "/sign-in/oauth2",
      "/link-social",
      "/unlink-account",
      "/get-access-token",
      "/refresh-token",
    ];
    for (const path of posts) {
      const body = { provider: "google", callbackURL: "https://evil.test" };
      expect((await server.post(path, body, { headers: { origin } })).status).toBe(404);
    }
    for (const path of ["/callback/github", "/oauth2/callback/google", "/error", "/account-info", "/list-accounts"]) {
      expect((await server.get(path)).status).toBe(404);
    }
  });
});
