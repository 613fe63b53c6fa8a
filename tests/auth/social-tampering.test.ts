// If this file fails, somebody can sign in as somebody else, or sign somebody else in as themselves.
import { createHash } from "node:crypto";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { type Script, type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

const db = database();
const callbackURL = "https://front.test/done";
const person = { sub: "p1", email: "pat@example.com", email_verified: true, name: "Pat" };
let provider: ScriptedProvider;
let server: AuthServer;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const frontendOrigins = ["https://front.test"];
  server = await startAuthServer(db, { google: provider.settings, frontendOrigins });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

/** A flow in progress. */
async function begun() {
  const browser = new Browser(server);
  const { location } = await browser.begin({ callbackURL });
  const state = location?.searchParams.get("state") ?? "";
  const nonce = location?.searchParams.get("nonce") ?? "";
  return { browser, state, nonce, code: provider.code(nonce, { claims: person }), location };
}

const users = () => db.sql('select id from auth."user"');

test("what follows is refused for its own reason: untouched, a flow ends well", async () => {
  const { browser, state, code, location } = await begun();
  const page = await browser.back({ state, code });
  expect(results(page)).toEqual({ code: expect.any(String) });
  expect((await exchange(server, results(page).code)).status).toBe(200);

  const form = provider.exchanges.at(-1);
  const verifier = form?.get("code_verifier") ?? "";
  expect(createHash("sha256").update(verifier).digest("base64url")).toBe(location?.searchParams.get("code_challenge"));
  expect(form?.get("redirect_uri")).toBe("https://app.test/api/auth/callback/google");
  await db.sql('delete from auth."user"');
});

describe("a wrong state leads nowhere: 400, no redirect, no call to the provider", () => {
  const cases: Record<string, () => Promise<{ browser: Browser; query: string }>> = {
    "no state": async () => ({ ...(await begun()), query: "code=x" }),
    "an empty one": async () => ({ ...(await begun()), query: "state=&code=x" }),
    "an invention": async () => ({ ...(await begun()), query: `state=${"A".repeat(43)}&code=x` }),
    "one with more after it": async () => {
      const { browser, state, code } = await begun();
      return { browser, query: `state=${state}x&code=${code}` };
    },
    "two of them": async () => {
      const { browser, state, code } = await begun();
      return { browser, query: `state=${state}&code=${code}&state=${state}` };
    },
    "one of another browser, which has flows of its own": async () => {
      const { state, code } = await begun();
      return { browser: (await begun()).browser, query: `state=${state}&code=${code}` };
    },
    "one without its cookie": async () => {
      const { state, code } = await begun();
      return { browser: new Browser(server), query: `state=${state}&code=${code}` };
    },
    "one with another flow's cookie under its name": async () => {
      const { browser, state, code } = await begun();
      const other = (await begun()).browser.cookies.get(origin);
      const jar = browser.cookies.get(origin);
      const [name = ""] = jar?.keys() ?? [];
      const [cookie] = other?.values() ?? [];
      if (cookie) jar?.set(name, cookie);
      return { browser, query: `state=${state}&code=${code}` };
    },
    "one whose cookie a neighbouring host has set once more": async () => {
      const { browser, state, code } = await begun();
      const jar = browser.cookies.get(origin);
      const [name = ""] = jar?.keys() ?? [];
      jar?.set(` ${name}`, { value: "A".repeat(43), path: "/" });
      return { browser, query: `state=${state}&code=${code}` };
    },
    "one that was used": async () => {
      const { browser, state, code } = await begun();
      const cookies = structuredClone(browser.cookies);
      await browser.back({ state, code });
      await db.sql('delete from auth."user"');
      for (const [of, jar] of cookies) browser.cookies.set(of, jar);
      return { browser, query: `state=${state}&code=${code}` };
    },
    "one that is too old": async () => {
      const { browser, state, code } = await begun();
      await db.sql("update auth.verification set expires_at = now()");
      return { browser, query: `state=${state}&code=${code}` };
    },
    "a one-time value of another kind": async () => {
      const { browser, state, nonce } = await begun();
      const page = await browser.back({ state, code: provider.code(nonce, { claims: person }) });
      await db.sql('delete from auth."user"');
      return { browser, query: `state=${results(page).code}&code=x` };
    },
    "one with the provider's error beside it": async () => ({
      ...(await begun()),
      query: `state=${"A".repeat(43)}&error=access_denied&callbackURL=${callbackURL}`,
    }),
  };

  test.for(Object.entries(cases))("%s", async ([, make]) => {
    const { browser, query } = await make();
    const before = provider.exchanges.length;
    const page = await browser.go(`/api/auth/callback/google?${query}`);
    expect(page).toMatchObject({ status: 400, location: null });
    expect(JSON.parse(page.text)).toMatchObject({ code: "BAD_REQUEST" });
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(provider.exchanges).toHaveLength(before);
    expect(await users()).toEqual([]);
  });

  test("a state that a stranger brought is used up for its owner, too", async () => {
    const { browser, state, code } = await begun();
    await new Browser(server).back({ state, code });
    expect((await browser.back({ state, code })).status).toBe(400);
  });
});

describe("what the provider sends back", () => {
  test.for([
    ["access_denied", "access_denied"],
    ["temporarily_unavailable", "provider_unavailable"],
    ["server_error", "provider_unavailable"],
    ["<script>alert(1)</script>", "provider_error"],
    ["success", "provider_error"],
  ])("as error %s becomes %s", async ([error = "", word]) => {
    const { browser, state } = await begun();
    const page = await browser.back({ state, error, error_description: "Call 0800 12345" });
    expect(page.location?.href).toBe(`${callbackURL}?error=${word}`);
  });

  test.for<[string, Record<string, string>]>([
    ["no code", { code: "" }],
    ["a code it does not know", { code: "invented" }],
    ["another issuer's name", { iss: "https://evil.test" }],
    ["an answer packed in a JWT", { response: "e30.e30." }],
    ["an ID token in the address", { id_token: "e30.e30." }],
  ])("with %s ends in provider_error", async ([, change]) => {
    const { browser, state, code } = await begun();
    const page = await browser.back({ state, code, ...change });
    expect(page.location?.href).toBe(`${callbackURL}?error=provider_error`);
    expect(await users()).toEqual([]);
  });

  test("without its name, although it said that it gives one, ends in provider_error", async () => {
    const strict = await startScriptedProvider();
    strict.metadata = { authorization_response_iss_parameter_supported: true };
    const strictServer = await startAuthServer(db, { google: strict.settings });
    const silent = await new Browser(strictServer).signIn(strict, { claims: person });
    expect(results(silent)).toEqual({ error: "provider_error" });
    await strictServer.close();
    await strict.close();
  });
});

describe("an ID token", () => {
  const claims = person;
  const anyKey = generateKeyPair("RS256");
  const unsigned = (payload: JWTPayload) =>
    `${[{ alg: "none" }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;
  const byClientSecret = (payload: JWTPayload) =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: "HS256", kid: "first" })
      .sign(new TextEncoder().encode(provider.settings.clientSecret));
  const byForeignKey = async (payload: JWTPayload) =>
    new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid: "first" }).sign((await anyKey).privateKey);
  const withOtherClaims = async (payload: JWTPayload) => {
    const [header, , signature] = (await provider.sign(payload)).split(".");
    return `${header}.${Buffer.from(JSON.stringify({ ...payload, sub: "root" })).toString("base64url")}.${signature}`;
  };
  const past = Math.floor(Date.now() / 1000) - 3600;

  test.for<[string, Script]>([
    ["signed with a key that is not the provider's", { claims, idToken: byForeignKey }],
    ["with other claims than were signed", { claims, idToken: withOtherClaims }],
    ["that is not signed", { claims, idToken: unsigned }],
    ["signed with our own client secret", { claims, idToken: byClientSecret }],
    ["under a key id that is not published", { claims, idToken: (it) => provider.sign(it, { kid: "second" }) }],
    ["of another flow", { claims: { ...claims, nonce: "another" } }],
    ["without a nonce", { claims: { ...claims, nonce: undefined } }],
    ["for another client", { claims: { ...claims, aud: "other" } }],
    ["for two clients, of which the other asked", { claims: { ...claims, aud: ["svc", "other"], azp: "other" } }],
    ["of another issuer", { claims: { ...claims, iss: "https://evil.test" } }],
    ["that has expired", { claims: { ...claims, exp: past } }],
    ["that never expires", { claims: { ...claims, exp: undefined } }],
    ["about nobody", { claims: { ...claims, sub: undefined } }],
    ["about nobody in so many words", { claims: { ...claims, sub: "" } }],
    ["that is no token", { claims, idToken: () => "nonsense" }],
    ["without an end, of which a part is read", { claims: { ...claims, more: "x".repeat(300_000) } }],
    ["that is missing", { answer: { status: 200, body: '{"access_token":"a","token_type":"bearer"}' } }],
    ["in an answer that is no JSON", { answer: { status: 200, body: "<html>" } }],
  ])("%s signs nobody in", async ([, script]) => {
    const page = await new Browser(server).signIn(provider, script, { callbackURL });
    expect(page.location?.href).toBe(`${callbackURL}?error=provider_error`);
    expect(await users()).toEqual([]);
  });
});

test("an ID token signed otherwise than with RS256 is none, although the provider publishes the key", async () => {
  const modern = await startScriptedProvider();
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  modern.metadata = { id_token_signing_alg_values_supported: ["RS256", "ES256"] };
  modern.otherKeys = [{ ...(await exportJWK(publicKey)), kid: "curved", alg: "ES256", use: "sig" }];
  const service = await startAuthServer(db, { google: modern.settings });
  const idToken = (it: JWTPayload) =>
    new SignJWT(it).setProtectedHeader({ alg: "ES256", kid: "curved" }).sign(privateKey);
  const page = await new Browser(service).signIn(modern, { claims: person, idToken });
  expect(results(page)).toEqual({ error: "provider_error" });
  await service.close();
  await modern.close();
});

describe("a provider that is down", () => {
  test("answers 503 where a sign-in begins, and nothing is kept", async () => {
    const gone = await startScriptedProvider();
    await gone.close();
    const alone = await startAuthServer(db, { google: gone.settings });
    const before = await db.sql("select id from auth.verification");
    const page = await new Browser(alone).begin();
    expect(page).toMatchObject({ status: 503, location: null });
    expect(page.headers.get("retry-after")).toBe("5");
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(await db.sql("select id from auth.verification")).toEqual(before);
    expect(alone.log.join("\n")).toContain("could not be discovered");
    await alone.close();
  });

  test.for<[string, Script]>([
    ["500", { answer: { status: 500, body: "" } }],
    ["503 with an error of OAuth", { answer: { status: 503, body: '{"error":"temporarily_unavailable"}' } }],
  ])("in the middle of a sign-in (%s) is told to the page", async ([, script]) => {
    const page = await new Browser(server).signIn(provider, script, { callbackURL });
    expect(page.location?.href).toBe(`${callbackURL}?error=provider_unavailable`);
  });

  test("goes away in the middle of a sign-in: the page is told", async () => {
    const leaving = await startScriptedProvider();
    const left = await startAuthServer(db, { google: leaving.settings });
    const browser = new Browser(left);
    const state = (await browser.begin()).location?.searchParams.get("state") ?? "";
    await leaving.close();
    expect(results(await browser.back({ state, code: "x" }))).toEqual({ error: "provider_unavailable" });
    await left.close();
  });

  test("and comes back is asked again, and once for many at the same moment", async () => {
    const fresh = await startScriptedProvider();
    const waiting = await startAuthServer(db, { google: fresh.settings });
    const pages = await Promise.all(Array.from({ length: 10 }, () => new Browser(waiting).begin()));
    expect(pages.map(({ status }) => status)).toEqual(Array(10).fill(302));
    expect(fresh.requests).toEqual(["/.well-known/openid-configuration"]);
    await waiting.close();
    await fresh.close();
  });
});

test("a provider that calls itself otherwise than configured is not used", async () => {
  const liar = await startScriptedProvider();
  liar.metadata = { issuer: "https://accounts.google.com" };
  const careful = await startAuthServer(db, { google: liar.settings });
  expect((await new Browser(careful).begin()).status).toBe(503);
  await careful.close();
  await liar.close();
});
