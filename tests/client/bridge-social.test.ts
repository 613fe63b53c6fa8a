// If this file fails, people with a Google account cannot sign in through a frontend's own server.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthClient } from "../../client/sdk/src/index.ts";
import { readBridgeSession } from "../../client/sdk/src/server/index.ts";
import type { SvcConfig } from "../../src/config/config.ts";
import { BridgedFront, password } from "../support/bridged-front.ts";
import { database } from "../support/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

const db = database();
const claims = { sub: "p1", email: "pat@example.com", email_verified: true, name: "Pat" };
let provider: ScriptedProvider;
let running: BridgedFront;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const config = { auth: { url: null, secrets: [], google: provider.settings } } as Partial<SvcConfig>;
  running = new BridgedFront(db, config, {});
  await running.start();
});
afterAll(async () => {
  await running.stop();
  await provider.close();
});

const start = (query: Record<string, string>) =>
  running.tab().get(`/api/auth/sign-in/social/redirect?${new URLSearchParams(query)}`);
const locationOf = (answer: Response) => new URL(answer.headers.get("location") ?? "");

/** Follows the sign-in from the bridge through backend and provider. @returns the browser's final URL */
async function throughTheProvider(begun: Response): Promise<URL> {
  const atBackend = await fetch(locationOf(begun), { redirect: "manual" });
  const { searchParams } = locationOf(atBackend);
  const code = provider.code(searchParams.get("nonce"), { claims });
  const query = new URLSearchParams({ state: searchParams.get("state") ?? "", code });
  const cookie = atBackend.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const back = `${running.service.url}/api/auth/callback/google?${query}`;
  return locationOf(await fetch(back, { redirect: "manual", headers: { cookie } }));
}

test("the bridge sends the browser to the backend, to come back to the callback page with a code", async () => {
  const begun = await start({ provider: "google" });
  expect(begun.status).toBe(302);
  expect(begun.headers.get("cache-control")).toBe("no-store");
  const to = locationOf(begun);
  expect(to.origin + to.pathname).toBe(`${running.proxy.url}/api/auth/sign-in/social/redirect`);
  expect(Object.fromEntries(to.searchParams)).toEqual({
    provider: "google",
    callbackURL: `${running.front.url}/auth/callback`,
    oauthReturnMode: "token",
  });
});

test("the code becomes a user, a JWT and a sealed cookie, and the session token stays between the servers", async () => {
  const landed = await throughTheProvider(await start({ provider: "google" }));
  expect(landed.origin + landed.pathname).toBe(`${running.front.url}/auth/callback`);

  const tab = running.tab();
  const auth = createAuthClient(running.service.url, { authBridge: {}, fetch: tab.fetch });
  const user = await auth.completeSocialSignIn(landed.searchParams.get("code") ?? "");
  expect(user).toEqual({ id: expect.any(String), email: claims.email, name: "Pat" });
  const session = await readBridgeSession(tab.cookie, { password });
  expect(session).toEqual({ user, sessionToken: running.sessionTokens().at(-1) });
  expect([...tab.seen, ...tab.set].join()).not.toContain(session?.sessionToken);
  expect((await tab.post("/token")).status).toBe(200);
});

test("a code is worth nothing on another frontend, nor a second time", async () => {
  const code = async () => (await throughTheProvider(await start({ provider: "google" }))).searchParams.get("code");
  const redeem = (origin: string, code: string | null) => {
    const headers = { origin, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify({ code }) };
    return running.bridge().POST(new Request(`${origin}/api/auth/oauth/exchange`, init));
  };
  expect((await redeem("http://localhost:1", await code())).status).toBe(403);
  const once = await code();
  expect((await redeem(running.front.url, once)).status).toBe(200);
  expect((await redeem(running.front.url, once)).status).toBe(401);
});

test("the page may name another way back on its own origin, and no other", async () => {
  const inside = await start({ provider: "google", callbackURL: `${running.front.url}/welcome?from=mail` });
  expect(locationOf(inside).searchParams.get("callbackURL")).toBe(`${running.front.url}/welcome?from=mail`);
  for (const callbackURL of [
    "https://evil.test/",
    "//evil.test/",
    "/\\evil.test",
    `${running.front.url}.evil.test/`,
    "javascript:alert(1)",
    "http://[",
  ]) {
    const answer = await start({ provider: "google", callbackURL });
    expect([callbackURL, answer.status, answer.headers.get("location")]).toEqual([callbackURL, 400, null]);
  }
});
