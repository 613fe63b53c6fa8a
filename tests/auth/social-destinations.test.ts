// If this file fails, a link to this service can send a user who just signed in, with the code, to a stranger's page.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthServer, startAuthServer } from "../support/auth-server.ts";
import { Browser } from "../support/browser.ts";
import { bad, good, listed } from "../support/callback-urls.ts";
import { database } from "../support/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

const db = database();
let provider: ScriptedProvider;
let server: AuthServer;
beforeAll(async () => {
  provider = await startScriptedProvider();
  server = await startAuthServer(db, { google: provider.settings, frontendOrigins: listed.slice(1) });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

const claims = { sub: "p1", email: "pat@example.com", email_verified: true };

test("there are enough of them, and none twice", () => {
  expect(new Set(bad).size).toBe(bad.length);
  expect(bad.length).toBeGreaterThan(140);
});

describe("a callbackURL that is refused before anything happens", () => {
  test.for(bad.map((target) => [target.slice(0, 60), target] as const))("%j", async ([, target]) => {
    const page = await new Browser(server).begin({ callbackURL: target });
    expect(page).toMatchObject({ status: 400, location: null });
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(JSON.parse(page.text)).toMatchObject({
      code: "BAD_REQUEST",
      hint: expect.stringContaining("frontendOrigins"),
    });
    if (target.length > 8) expect(page.text).not.toContain(target); // nothing to reflect
  });

  test.for([
    ["twice", "callbackURL=/&callbackURL=https://evil.test"],
    ["twice, the good one last", "callbackURL=https://evil.test&callbackURL=/"],
    ["in bytes that are no text", "callbackURL=%ff%fe"],
    ["with half an escape", "callbackURL=https://front.test/%25%zz%0a"],
    ["with a line break in it", "callbackURL=/%0d%0aSet-Cookie:%20a=b"],
  ])("%s", async ([, query]) => {
    const page = await new Browser(server).go(`/api/auth/sign-in/social/redirect?provider=google&${query}`);
    expect(page).toMatchObject({ status: 400, location: null });
    expect(page.headers.getSetCookie()).toEqual([]);
  });
});

describe("a callbackURL that is on the list", () => {
  test.for(good)("%s leads to %s, with the result", async ([target, where]) => {
    const page = await new Browser(server).signIn(provider, { claims }, { callbackURL: target });
    expect(page.status).toBe(302);
    expect(listed).toContain(page.location?.origin);
    const [, mark = "", code] = /([?&])code=([\w-]{43})(?=#|$)/.exec(page.location?.href ?? "") ?? [];
    expect(page.location?.href.replace(`${mark}code=${code}`, "")).toBe(where);
  });

  test.for([
    ["?code=old", ""],
    ["?error=x&oauth=success&code=", ""],
    ["?a=1&code=old&b=2", "a=1&b=2&"],
    ["?a=1&c%6fde=old&code[]=1", "a=1&code[]=1&"],
    ["?CODE=1&codes=2&x=code", "CODE=1&codes=2&x=code&"],
    ["?a=%20%2B+&b&=c&a=2", "a=%20%2B+&b&=c&a=2&"],
    ["?&&a=1&", "a=1&"],
  ])("keeps its own parameters and no older result: %s", async ([query, kept]) => {
    const page = await new Browser(server).signIn(
      provider,
      { claims },
      { callbackURL: `https://front.test/x${query}` },
    );
    expect(page.location?.href.replace(/code=[\w-]{43}$/, "")).toBe(`https://front.test/x?${kept}`);
    expect(page.location?.searchParams.getAll("code")).toHaveLength(1);
  });
});

test("an origin that left the list while somebody was at the provider is not returned to", async () => {
  const before = await startAuthServer(db, { google: provider.settings, frontendOrigins: ["https://old.test"] });
  const browser = new Browser(before);
  const state = (await browser.begin({ callbackURL: "https://old.test/" })).location?.searchParams.get("state") ?? "";
  await before.close();
  const after = new Browser(server);
  for (const [of, jar] of browser.cookies) after.cookies.set(of, jar);
  expect(await after.back({ state, code: "x" })).toMatchObject({ status: 400, location: null });
});
