// If this file fails, the SDK and the service disagree about social sign-in.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type AuthClientOptions, createAuthClient } from "../../client/sdk/src/index.ts";
import { type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { Browser } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

const db = database();
const front = "https://front.test";
const claims = { sub: "p1", email: "pat@example.com", email_verified: true, name: "Pat" };
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
afterEach(() => vi.unstubAllGlobals());

/** The tab's address bar, as the SDK reads it. */
const show = (href: string) => {
  const location = { href, search: new URL(href).search, assign: (next: string) => show(next) };
  vi.stubGlobal("location", location);
};
const shown = () => globalThis.location.href;
/** The URL without the SDK's own marker, which differs each time. */
const unmarked = () =>
  shown()
    .replace(/[?&]svc_flow=[\w-]+/, (mark) => (mark.startsWith("?") ? "?" : ""))
    .replace("?&", "?");

/** A page of the front with the SDK, in a browser that adds Origin and cookies. */
function page(options: AuthClientOptions = {}) {
  const browser = new Browser(server);
  const sent: string[] = [];
  const fetch = async (url: string | URL | Request, init: RequestInit = {}) => {
    sent.push(new URL(String(url)).pathname);
    const headers = { ...Object.fromEntries(new Headers(init.headers)), origin: front };
    const answer = await browser.go(String(url), { ...init, headers });
    return new Response(answer.text, { status: answer.status, headers: answer.headers });
  };
  show(`${front}/welcome?from=mail`);
  return { browser, sent, auth: createAuthClient(origin, { ...options, fetch, sessionTokenStorage: "memory" }) };
}

/** Follows the redirects from the SDK through the provider to the final page. */
async function throughTheProvider(browser: Browser, change: Record<string, string> = {}): Promise<void> {
  const { location } = await browser.go(shown());
  const state = location?.searchParams.get("state") ?? "";
  const code = provider.code(location?.searchParams.get("nonce") ?? "", { claims });
  show((await browser.back({ state, code, ...change })).location?.href ?? "");
}

test("in token mode the page's code becomes the user, who is then signed in", async () => {
  const { auth, browser } = page();
  await auth.signInSocial("google", { callbackURL: "/signed-in" });
  expect(new URL(shown()).searchParams.get("oauthReturnMode")).toBe("token");
  await throughTheProvider(browser);
  expect(unmarked()).toMatch(/^https:\/\/front\.test\/signed-in\?code=/);

  // Twice, as React's strict mode runs effects: the code can be exchanged once.
  const [user, again] = await Promise.all([auth.completeSocialSignIn(), auth.completeSocialSignIn()]);
  expect(user).toEqual({ id: expect.any(String), email: claims.email, name: "Pat" });
  expect([again, await auth.completeSocialSignIn()]).toEqual([user, user]);
  expect(auth.getState()).toMatchObject({ user: { email: claims.email }, token: expect.any(String) });
  const { headers } = await auth["~svc"].credentials(new AbortController().signal);
  const bearer = headers?.authorization?.replace("Bearer ", "") ?? "";
  expect(await server.caller(bearer)).toMatchObject({ user: { email: claims.email } });
});

test("in cookie mode the page asks who is signed in, and sees no token at any time", async () => {
  const { auth, browser, sent } = page({ strategy: { kind: "cookie" } });
  await auth.signInSocial("google");
  expect(new URL(shown()).searchParams.get("oauthReturnMode")).toBe("cookie");
  await throughTheProvider(browser);
  expect(shown()).toBe(`${front}/welcome?from=mail&oauth=success`);

  expect(await auth.completeSocialSignIn()).toEqual({ id: expect.any(String), email: claims.email, name: "Pat" });
  expect(auth.getState()).toMatchObject({ token: null });
  expect(sent).toEqual(["/api/auth/me"]);

  // The user of the cookie now, not the one that the page has shown.
  await db.sql(`update auth."user" set name = 'Pat the second' where email = $1`, [claims.email]);
  await auth.signInSocial("google", { callbackURL: "/again" });
  await throughTheProvider(browser);
  expect(await auth.completeSocialSignIn()).toMatchObject({ name: "Pat the second" });
});

test("a failure is one for whoever was signed in before, too", async () => {
  const { auth, browser } = page({ strategy: { kind: "cookie" } });
  await auth.signInSocial("google");
  await throughTheProvider(browser);
  await auth.signInSocial("google", { callbackURL: "/again" });
  await throughTheProvider(browser, { error: "access_denied" });
  await expect(auth.completeSocialSignIn()).rejects.toThrow("access_denied");
});

test("after a failure there is nothing to complete, in either mode", async () => {
  for (const kind of ["token", "cookie"] as const) {
    const { auth, browser } = page({ strategy: { kind } });
    await auth.signInSocial("google");
    await throughTheProvider(browser, { error: "access_denied" });
    expect(unmarked()).toBe(`${front}/welcome?from=mail&error=access_denied`);
    await expect(auth.completeSocialSignIn()).rejects.toThrow("access_denied");
  }
});
