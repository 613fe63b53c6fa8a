// If this file fails, a backend gives out tokens in a mode that it does not allow, or no sign-in can be completed.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

type Mode = "token" | "cookie";
const db = database();
const callbackURL = "https://front.test/";
const claims = { sub: "p1", email: "pat@example.com", email_verified: true };
const configured: [string, Mode[] | undefined][] = [
  ["nothing", undefined],
  ["token", ["token"]],
  ["cookie", ["cookie"]],
  ["token, cookie", ["token", "cookie"]],
  ["cookie, token", ["cookie", "token"]],
];
let provider: ScriptedProvider;
const servers = new Map<string, AuthServer>();
beforeAll(async () => {
  provider = await startScriptedProvider();
  for (const [name, modes] of configured) {
    const definition = modes ? { oauth: { allowedReturnModes: modes } } : {};
    const google = provider.settings;
    servers.set(name, await startAuthServer(db, { google, definition, frontendOrigins: ["https://front.test"] }));
  }
});
afterAll(async () => {
  for (const server of servers.values()) await server.close();
  await provider.close();
});
const at = (name: string) => servers.get(name) as AuthServer;

/** The configuration, the preference, and the result: a mode, or a status. */
const table: [string, string | undefined, Mode | number][] = [
  ["nothing", undefined, "token"],
  ["nothing", "token", "token"],
  ["nothing", "cookie", 403],
  ["token", undefined, "token"],
  ["token", "token", "token"],
  ["token", "cookie", 403],
  ["cookie", undefined, "cookie"],
  ["cookie", "token", 403],
  ["cookie", "cookie", "cookie"],
  ["token, cookie", undefined, "token"],
  ["token, cookie", "token", "token"],
  ["token, cookie", "cookie", "cookie"],
  ["cookie, token", undefined, "cookie"],
  ["cookie, token", "token", "token"],
  ["cookie, token", "cookie", "cookie"],
  ...configured.flatMap(([name]) =>
    ["", "Token", "both", "token,cookie"].map((odd) => [name, odd, 400] as [string, string, number]),
  ),
];

describe("allowed modes and a client's preference", () => {
  test.for(table)("allowed %s, asked for %s: %s", async ([name, preference, outcome]) => {
    const query = { callbackURL, ...(preference !== undefined && { oauthReturnMode: preference }) };
    const browser = new Browser(at(name));
    if (typeof outcome === "number") {
      const page = await browser.begin(query);
      expect(page).toMatchObject({ status: outcome, location: null });
      expect(JSON.parse(page.text).hint).toMatch(outcome === 403 ? /allowedReturnModes/ : /token or cookie/);
      expect(page.headers.getSetCookie()).toEqual([]);
      return;
    }
    const page = await browser.signIn(provider, { claims }, query);
    const isSignedIn = page.headers.getSetCookie().some((line) => line.includes("session_token="));
    expect(isSignedIn).toBe(outcome === "cookie");
    expect(results(page)).toEqual(outcome === "cookie" ? { oauth: "success" } : { code: expect.any(String) });
  });
});

describe("the exchange", () => {
  test.for(configured)("allowed %s", async ([name, modes = ["token"]]) => {
    const minted = await new Browser(at("token")).signIn(provider, { claims }, { callbackURL });
    const answer = await exchange(at(name), results(minted).code);
    if (modes.includes("token")) return expect(answer.status).toBe(200);
    expect(answer).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    expect(answer.body.hint).toContain("oauth.allowedReturnModes");
  });
});

test("signing in by e-mail and password does not care", async () => {
  for (const [index, [name]] of configured.entries()) {
    const person = { email: `by-password-${index}@example.com`, password: "correct horse", name: "P" };
    const headers = { origin: callbackURL.slice(0, -1) };
    expect((await at(name).post("/sign-up", person)).body).toHaveProperty("sessionToken");
    expect((await at(name).post("/sign-in/email", person, { headers })).body).toHaveProperty("user");
  }
});

describe("defineAuth", () => {
  test.for([[[]], [["cookies"]], ["token"], [["token", 1]]])("refuses %j for the allowed modes", ([modes]) => {
    expect(() => defineAuth({ oauth: { allowedReturnModes: modes as never } })).toThrow(/allowedReturnModes/);
  });
});

describe("a provider that is not there", () => {
  test.for(["facebook", "Google", "", "google,github", undefined])("%s: 404", async (name) => {
    const page = await new Browser(at("token")).go(
      `/api/auth/sign-in/social/redirect?${new URLSearchParams({ ...(name !== undefined && { provider: name }) })}`,
    );
    expect(page).toMatchObject({ status: 404, location: null });
    expect(JSON.parse(page.text)).toMatchObject({ hint: "Send provider=google." });
  });

  test("Google without its variables: 404, which says what to set, at both addresses", async () => {
    const bare = await startAuthServer(db);
    for (const path of ["/sign-in/social/redirect?provider=google", "/callback/google?state=x&code=y"]) {
      const answer = await bare.get(path);
      expect(answer.status).toBe(404);
      expect(answer.body.hint).toBe("Set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET in the environment of the service.");
    }
    await bare.close();
  });
});
