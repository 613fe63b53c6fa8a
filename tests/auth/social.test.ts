// If this file fails, people cannot sign in with Google, or the sign-in leaves secrets behind.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, type Page, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { type OpenIdProvider, startOpenIdProvider } from "../support/openid-provider.ts";

const db = database();
const front = "https://front.test";
const gina = {
  sub: "gina-1",
  email: "Gina@Example.com",
  email_verified: true,
  name: "Gina G.",
  picture: "https://pictures.test/gina.png",
};
const definition: AuthDefinition = {
  oauth: { allowedReturnModes: ["token", "cookie"] },
  user: { additionalFields: { role: { type: "text", default: "member" } } },
};
let provider: OpenIdProvider;
let server: AuthServer;
beforeAll(async () => {
  await db.sql('alter table auth."user" add column role text');
  provider = await startOpenIdProvider([gina], `${origin}/api/auth/callback/google`);
  server = await startAuthServer(db, { google: provider.settings, definition, frontendOrigins: [front] });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

/** Signs in by the provider's own pages. */
async function signIn(browser: Browser, query: Record<string, string>): Promise<Page> {
  return browser.walk(await browser.begin(query), { account: gina.sub });
}

describe("the redirect to the provider", () => {
  test("asks for a code with PKCE, state and nonce, and for three scopes", async () => {
    const { status, location, headers } = await new Browser(server).begin({ callbackURL: `${front}/done` });
    expect(status).toBe(302);
    expect(location?.origin).toBe(provider.settings.issuer);
    expect(Object.fromEntries(location?.searchParams ?? [])).toEqual({
      client_id: "svc",
      response_type: "code",
      redirect_uri: "https://app.test/api/auth/callback/google",
      scope: "openid email profile",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  test("sets a cookie of its own for every flow, which only the callback gets", async () => {
    const browser = new Browser(server);
    const cookies = await Promise.all([browser.begin(), browser.begin()]);
    const lines = cookies.flatMap(({ headers }) => headers.getSetCookie());
    const form =
      /^__Secure-authlib\.oauth_state\.[\w-]{16}=[\w-]{43}; Max-Age=600; Path=\/api\/auth\/callback; HttpOnly; SameSite=Lax; Secure$/;
    for (const line of lines) expect(line).toMatch(form);
    expect(new Set(lines.map((line) => line.split("=")[0])).size).toBe(2);
  });

  test("keeps neither state nor cookie as they are", async () => {
    const { location, headers } = await new Browser(server).begin();
    const secret = /=([\w-]{43});/.exec(headers.getSetCookie()[0] ?? "")?.[1] ?? "no cookie";
    const rows = JSON.stringify(await db.sql("select * from auth.verification"));
    for (const value of [location?.searchParams.get("state") ?? "no state", secret]) expect(rows).not.toContain(value);
    expect(rows).toContain(createHash("sha256").update(secret).digest("base64url"));
  });

  test("begins at the service's own origin, where the provider will send the browser back to", async () => {
    const { request } = await import("node:http");
    const path = "/api/auth/sign-in/social/redirect?provider=google&callbackURL=%2Fa%3Fb";
    const location = await new Promise((resolve, reject) => {
      const { port } = new URL(server.url);
      request({ port, path, headers: { host: "front.test" } }, (answer) => resolve(answer.resume().headers.location))
        .on("error", reject)
        .end();
    });
    expect(location).toBe(`https://app.test${path}`);
  });
});

describe("in token mode", () => {
  test("a person comes back with a code that is worth a user, a session token and a JWT", async () => {
    const page = await signIn(new Browser(server), { callbackURL: `${front}/done?a=%20b&x=1#top` });
    expect(page.status).toBe(302);
    expect(page.location?.href).toMatch(/^https:\/\/front\.test\/done\?a=%20b&x=1&code=[\w-]{43}#top$/);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.getSetCookie().join()).not.toContain("session_token");
    expect(await db.sql("select * from auth.session")).toEqual([]); // nothing before the exchange

    const answer = await exchange(server, results(page).code, front, "Gina's browser");
    const user = { id: expect.any(String), email: "gina@example.com", name: "Gina G." };
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ user, sessionToken: expect.any(String), token: expect.any(String) });
    expect(await server.caller(answer.body.token)).toMatchObject({ user: { ...user, role: "member" } });
    expect(await server.caller(answer.body.sessionToken)).toMatchObject({ user });
    const [session] = await db.sql("select user_agent, ip_address from auth.session");
    expect(session).toEqual({ user_agent: "Gina's browser", ip_address: "127.0.0.1" });
  });

  test("the user is verified, has name and picture and the declared defaults, and no token of the provider", async () => {
    await signIn(new Browser(server), {});
    const [user] = await db.sql('select * from auth."user"');
    const { picture: image } = gina;
    expect(user).toMatchObject({
      email: "gina@example.com",
      email_verified: true,
      name: "Gina G.",
      image,
      role: "member",
    });
    const accounts = await db.sql("select * from auth.account");
    expect(accounts).toMatchObject([{ provider_id: "google", account_id: "gina-1", user_id: user?.id }]);
    const tokens = ["access_token", "refresh_token", "id_token", "password"] as const;
    for (const column of tokens) expect(accounts[0]?.[column]).toBeNull();
  });

  test("the second sign-in finds the first one's user", async () => {
    const browser = new Browser(server);
    const once = await exchange(server, results(await signIn(browser, {})).code, origin);
    const again = await exchange(server, results(await signIn(browser, {})).code, origin);
    expect(again.body.user).toEqual(once.body.user);
    expect(await db.sql('select id from auth."user"')).toHaveLength(1);
  });

  test("without a callbackURL a person comes back to the service itself", async () => {
    const page = await signIn(new Browser(server), {});
    expect(page.location?.href).toMatch(/^https:\/\/app\.test\/\?code=[\w-]{43}$/);
  });
});

describe("in cookie mode", () => {
  test("a person comes back signed in, and no token can be seen", async () => {
    const browser = new Browser(server);
    const page = await signIn(browser, { callbackURL: `${front}/done?code=old&error=old`, oauthReturnMode: "cookie" });
    expect(page.location?.href).toBe("https://front.test/done?oauth=success");
    const [cookie = ""] = page.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Secure-authlib\.session_token=[^;]+; Max-Age=6\d{5}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(page.text).toBe("");
    const me = await browser.go("/api/auth/me");
    expect(JSON.parse(me.text)).toMatchObject({ user: { email: "gina@example.com" } });
  });

  test("the flow's own cookie is gone afterwards", async () => {
    const browser = new Browser(server);
    await signIn(browser, { oauthReturnMode: "cookie" });
    expect([...(browser.cookies.get(origin)?.keys() ?? [])]).toEqual(["__Secure-authlib.session_token"]);
  });
});

test("several tabs of one browser can be under way at once, and end in any order", async () => {
  const browser = new Browser(server);
  const begun = await Promise.all(["a", "b", "c"].map((tab) => browser.begin({ callbackURL: `${front}/${tab}` })));
  for (const [index, tab] of [2, 0, 1].map((n) => [n, "abc"[n]] as const)) {
    const page = await browser.walk(begun[index] as Page, { account: gina.sub });
    expect(page.location?.pathname).toBe(`/${tab}`);
    expect((await exchange(server, results(page).code, front)).status).toBe(200);
  }
});

test("who declines at the provider comes back with access_denied, in our words only", async () => {
  const browser = new Browser(server);
  const page = await browser.walk(await browser.begin({ callbackURL: `${front}/done?keep=1` }), { decline: "" });
  expect(page.location?.href).toBe("https://front.test/done?keep=1&error=access_denied");
});

test("the log has no state, code, cookie, token or client secret in it", async () => {
  const browser = new Browser(server);
  const begun = await browser.begin({ callbackURL: front });
  const state = begun.location?.searchParams.get("state") ?? "";
  const flow = [...(browser.cookies.get(origin)?.values() ?? [])][0]?.value ?? "";
  const code = results(await browser.walk(begun, { account: gina.sub })).code ?? "";
  const { sessionToken, token } = (await exchange(server, code, front)).body;
  await exchange(server, code, front);
  await browser.back({ state, code: "stolen" });
  const log = server.log.join("\n");
  expect(log).toContain("/api/auth/callback/google");
  for (const secret of [state, flow, code, sessionToken, token, provider.settings.clientSecret, "stolen"]) {
    expect(secret).not.toBe("");
    expect(log).not.toContain(secret);
  }
});

test("a code that the provider gave to another application opens nothing", async () => {
  const browser = new Browser(server);
  const { location } = await browser.begin({ callbackURL: front });
  const begun = new URL(location ?? "");
  begun.searchParams.set("client_id", provider.other.clientId);
  const page = await browser.walk(
    { status: 302, location: begun, headers: new Headers(), text: "" },
    { account: gina.sub },
  );
  expect(results(page)).toEqual({ error: "provider_error" });
});

test("a provider of another kind: the address is in the user info, and the client's secret in a header", async () => {
  const hal = { ...gina, sub: "hal-1", email: "hal@example.com" };
  const thin = await startOpenIdProvider([hal], `${origin}/api/auth/callback/acme`, {
    thin: true,
    method: "client_secret_basic",
  });
  const { issuer, clientId, clientSecret } = thin.settings;
  const other = await startAuthServer(db, {
    definition: { social: { oidc: { acme: { issuer } } } },
    clients: { ACME_CLIENT_ID: clientId, ACME_CLIENT_SECRET: clientSecret },
    frontendOrigins: [front],
  });
  const browser = new Browser(other);
  const page = await browser.walk(await browser.begin({ provider: "acme", callbackURL: front }), { account: hal.sub });
  const { body } = await exchange(other, results(page).code);
  expect(body.user).toMatchObject({ email: hal.email, name: hal.name });
  await other.close();
  await thin.close();
});
