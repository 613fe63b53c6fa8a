// If this file fails, social sign-in does not work in a service that is started from its configuration.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SvcConfig } from "../../src/config/config.ts";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { database } from "../support/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";
import { apiWith, TestService } from "../support/service.ts";

const db = database();
let provider: ScriptedProvider;
let service: TestService;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const auth = { url: null, secrets: [], google: provider.settings };
  const config = { frontendOrigins: ["https://front.test"], auth } as Partial<SvcConfig>;
  service = new TestService(db, apiWith(), config);
  await service.start();
});
afterAll(async () => {
  await service.stop();
  await provider.close();
});

const go = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}/api/auth${path}`, { redirect: "manual", headers });

test("a sign-in ends with a session that the whole service knows, and pages of the front may read the answer", async () => {
  const start = await go("/sign-in/social/redirect?provider=google&callbackURL=https://front.test/");
  const sent = new URL(start.headers.get("location") ?? "");
  expect(sent.searchParams.get("redirect_uri")).toBe(`${service.url}/api/auth/callback/google`);

  // Over http the cookie has no prefix: browsers would refuse it.
  const [cookie = ""] = start.headers.getSetCookie();
  expect(cookie).toMatch(
    /^authlib\.oauth_state\.[\w-]{16}=[\w-]{43}; Max-Age=600; Path=\/api\/auth\/callback; HttpOnly; SameSite=Lax$/,
  );

  const claims = { sub: "p1", email: "pat@example.com", email_verified: true, name: "Pat" };
  const code = provider.code(sent.searchParams.get("nonce"), { claims });
  const query = new URLSearchParams({ state: sent.searchParams.get("state") ?? "", code });
  const back = await go(`/callback/google?${query}`, { cookie: cookie.split(";")[0] ?? "" });
  const landed = new URL(back.headers.get("location") ?? "");
  expect(back.headers.get("referrer-policy")).toBe("no-referrer");

  const answer = await service.fetch("/api/auth/oauth/exchange", {
    method: "POST",
    headers: { "content-type": "application/json", origin: "https://front.test" },
    body: JSON.stringify({ code: landed.searchParams.get("code") }),
  });
  expect(answer).toMatchObject({ status: 200, body: { user: { email: "pat@example.com", name: "Pat" } } });
  expect(answer.headers.get("access-control-allow-origin")).toBe("https://front.test");
  const page = await service.query({ ...answer.body.user, ...answer.body }, "notes.list");
  expect(page).toMatchObject({ status: 200, body: { json: { data: [], total: 0 } } });
  expect(service.logged.join("")).not.toContain(landed.searchParams.get("code"));
});

test("a browser that knows the service by its other name is first sent to the one that the provider knows", async () => {
  const other = service.url.replace("localhost", "127.0.0.1");
  const answer = await fetch(`${other}/api/auth/sign-in/social/redirect?provider=google`, { redirect: "manual" });
  expect(answer.headers.get("location")).toBe(`${service.url}/api/auth/sign-in/social/redirect?provider=google`);
  expect(answer.headers.getSetCookie()).toEqual([]);
});

test("a form from Apple's page, which is on no listed origin, is taken and leads to the callback", async () => {
  const auth: AuthDefinition = { social: { apple: { teamId: "TEAM123456", keyId: "KEY1234567" } } };
  const config = { auth: { url: null, secrets: [], google: null, clients: {} } } as Partial<SvcConfig>;
  const other = new TestService(db, apiWith(), config, undefined, undefined, auth);
  await other.start();
  const answer = await fetch(`${other.url}/api/auth/callback/apple`, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/x-www-form-urlencoded", origin: "https://appleid.apple.com" },
    body: "state=a%26b&code=c",
  });
  expect(answer.status).toBe(303);
  expect(answer.headers.get("location")).toBe(`${other.url}/api/auth/callback/apple?state=a%26b&code=c`);
  await other.stop();
});
