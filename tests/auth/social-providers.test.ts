// If this file fails, a sign-in by one provider opens the account of another's user, or an application cannot choose its providers.
import { generateKeyPairSync } from "node:crypto";
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { libraryOptions } from "../../src/auth/library-options.ts";
import { type AuthDefinition, defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, type Page, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { type Script, type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

const db = database();
const page = "https://front.test";
const tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47";
const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = key.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
/** Each provider of these tests is the same server. */
let provider: ScriptedProvider;
let server: AuthServer;
let definition: AuthDefinition;
let clients: Record<string, string>;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const { issuer, clientId, clientSecret } = provider.settings;
  definition = defineAuth({
    social: {
      apple: { teamId: "TEAM123456", keyId: "KEY1234567" },
      microsoft: { tenant, trustEmail: true },
      oidc: { acme: { issuer }, "other-one": { issuer } },
    },
    oauth: { allowedReturnModes: ["token", "cookie"] },
  });
  clients = {
    ...{ APPLE_CLIENT_ID: clientId, APPLE_CLIENT_SECRET: pem.replaceAll("\n", "\\n"), APPLE_ISSUER: issuer },
    ...{ MICROSOFT_CLIENT_ID: clientId, MICROSOFT_CLIENT_SECRET: clientSecret, MICROSOFT_ISSUER: issuer },
    ...{ ACME_CLIENT_ID: clientId, ACME_CLIENT_SECRET: clientSecret },
    ...{ OTHER_ONE_CLIENT_ID: clientId, OTHER_ONE_CLIENT_SECRET: clientSecret },
  };
  server = await startAuthServer(db, { google: provider.settings, definition, clients, frontendOrigins: [page] });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

let people = 0;
function somebody(change: Record<string, unknown> = {}) {
  const sub = `person-${++people}`;
  return { sub, email: `${sub}@example.com`, email_verified: true, name: "Some Body", ...change };
}
const signIn = (name: string, claims: Script["claims"]) =>
  new Browser(server).signIn(provider, { claims: { ...claims } }, { provider: name, callbackURL: page });
const userOf = async (answer: Page) => (await exchange(server, results(answer).code)).body.user;
const accountsOf = (id: string) =>
  db.sql("select provider_id from auth.account where user_id = $1 order by provider_id", [id]);

describe("providers that auth.ts names", () => {
  test("have a redirect URI and accounts of their own", async () => {
    const { location } = await new Browser(server).begin({ provider: "other-one" });
    expect(location?.searchParams.get("redirect_uri")).toBe("https://app.test/api/auth/callback/other-one");
    const { id } = await userOf(await signIn("other-one", somebody()));
    expect(await accountsOf(id)).toEqual([{ provider_id: "other-one" }]);
  });

  test("do not share their ids: the same one at two providers is two people", async () => {
    const claims = somebody();
    const first = await userOf(await signIn("acme", claims));
    const second = await userOf(await signIn("other-one", { ...claims, email: "another@example.com" }));
    expect(second.id).not.toBe(first.id);
  });

  test("are linked to one user by an address that each of them has verified", async () => {
    const claims = somebody();
    const { id } = await userOf(await signIn("acme", claims));
    await signIn("google", { ...claims, sub: "at-google" });
    expect(await userOf(await signIn("other-one", { ...claims, sub: "elsewhere" }))).toMatchObject({ id });
    expect(await accountsOf(id)).toEqual(["acme", "google", "other-one"].map((provider_id) => ({ provider_id })));
  });

  test("cannot answer for each other: a state belongs to the provider that it was sent to", async () => {
    const browser = new Browser(server);
    const { location } = await browser.begin({ provider: "acme", callbackURL: page });
    const [state, nonce] = ["state", "nonce"].map((name) => location?.searchParams.get(name) ?? "");
    const answer = { state: state ?? "", code: provider.code(nonce ?? "", { claims: somebody() }) };
    expect(await browser.back(answer, "other-one")).toMatchObject({ status: 400, location: null });
    expect(await browser.back(answer, "acme")).toMatchObject({ status: 400, location: null }); // it is used up
  });

  test("a name that is not known is refused with those that are", async () => {
    const { status, text } = await new Browser(server).begin({ provider: "github" });
    expect(status).toBe(404);
    expect(JSON.parse(text).hint).toBe("Send provider=google or microsoft or apple or acme or other-one.");
  });
});

describe("an ID token of such a provider", () => {
  test("may be signed with another algorithm, by a key that the issuer publishes", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const otherKeys = [{ ...(await exportJWK(publicKey)), kid: "second", alg: "ES256", use: "sig" }];
    const other = await startScriptedProvider();
    Object.assign(other, { otherKeys, metadata: { id_token_signing_alg_values_supported: ["RS256", "ES256"] } });
    const { issuer, clientId, clientSecret } = other.settings;
    const one = await startAuthServer(db, {
      definition: { social: { oidc: { acme: { issuer } } } },
      clients: { ACME_CLIENT_ID: clientId, ACME_CLIENT_SECRET: clientSecret },
      frontendOrigins: [page],
    });
    const idToken = (claims: JWTPayload) =>
      new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "second" }).sign(privateKey);
    const query = { provider: "acme", callbackURL: page };
    expect(results(await new Browser(one).signIn(other, { claims: somebody(), idToken }, query))).toHaveProperty(
      "code",
    );
    await one.close();
    await other.close();
  });

  // The provider of these tests says that it signs with HS256 and with none.
  test.for<[string, (claims: JWTPayload) => Promise<string> | string]>([
    [
      "is none without a signature",
      (claims) =>
        `${[{ alg: "none" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`,
    ],
    [
      "is none with the client's secret as the key",
      (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: "HS256", kid: "first" })
          .sign(Buffer.from(provider.settings.clientSecret)),
    ],
  ])("%s", async ([, idToken]) => {
    const query = { provider: "acme", callbackURL: page };
    const answer = await new Browser(server).signIn(provider, { claims: somebody(), idToken }, query);
    expect(results(answer)).toEqual({ error: "provider_error" });
  });
});

describe("an address that the provider says nothing of", () => {
  const unsaid = (change: object = {}) => ({ ...somebody(), email_verified: undefined, ...change });

  test("does not count", async () => {
    expect(results(await signIn("acme", unsaid()))).toEqual({ error: "email_not_verified" });
  });

  test("counts with trustEmail, unless the provider calls it unverified", async () => {
    expect(await userOf(await signIn("microsoft", unsaid()))).toMatchObject({ name: "Some Body" });
    for (const email_verified of [false, "false", 0, null]) {
      const answer = await signIn("microsoft", unsaid({ email_verified }));
      expect(results(answer)).toEqual({ error: "email_not_verified" });
    }
  });
});

describe("Apple", () => {
  /** Apple's page sends the answer as a form, from its own origin and without cookies. */
  async function signInAtApple(claims: Script["claims"], user?: string, query = {}): Promise<Page> {
    const browser = new Browser(server);
    const { location } = await browser.begin({ provider: "apple", callbackURL: page, ...query });
    const [state = "", nonce = ""] = ["state", "nonce"].map((name) => location?.searchParams.get(name) ?? "");
    const form = { state, code: provider.code(nonce, { claims: { ...claims } }), ...(user && { user }) };
    const sent = await fetch(`${server.url}/api/auth/callback/apple`, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: "https://appleid.apple.com" },
      body: new URLSearchParams(form),
    });
    expect(sent.status).toBe(303);
    expect(sent.headers.get("referrer-policy")).toBe("no-referrer");
    expect(sent.headers.getSetCookie()).toEqual([]);
    return browser.go(sent.headers.get("location") ?? "");
  }

  test("is asked for a form", async () => {
    const { location } = await new Browser(server).begin({ provider: "apple" });
    const { response_mode, scope } = Object.fromEntries(location?.searchParams ?? []);
    expect({ response_mode, scope }).toEqual({ response_mode: "form_post", scope: "openid email name" });
  });

  test("gets a secret that is signed with the key, and gives the name once", async () => {
    const claims = somebody({ email_verified: "true", name: undefined });
    const user = JSON.stringify({ name: { firstName: "Ada", lastName: "Lovelace" }, email: "x@evil.test" });
    const made = await userOf(await signInAtApple(claims, user));
    expect(made).toMatchObject({ name: "Ada Lovelace", email: claims.email });
    const jwks = createLocalJWKSet({
      keys: [{ ...(await exportJWK(key.publicKey)), kid: "KEY1234567", alg: "ES256" }],
    });
    const form = provider.exchanges.at(-1);
    expect(form?.get("client_id")).toBe(provider.settings.clientId);
    const { payload } = await jwtVerify(form?.get("client_secret") ?? "", jwks, {
      issuer: "TEAM123456",
      subject: provider.settings.clientId,
      audience: provider.settings.issuer,
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300);
    expect(await userOf(await signInAtApple(claims))).toEqual(made); // the name stays
    expect(server.log.join("")).not.toContain(form?.get("client_secret"));
  });

  test("works in cookie mode", async () => {
    const answer = await signInAtApple(somebody(), undefined, { oauthReturnMode: "cookie" });
    expect(results(answer)).toEqual({ oauth: "success" });
    expect(answer.headers.getSetCookie().join()).toContain("authlib.session_token=");
  });

  test("says in its own word that a person declines", async () => {
    const browser = new Browser(server);
    const { location } = await browser.begin({ provider: "apple", callbackURL: page });
    const state = location?.searchParams.get("state") ?? "";
    const answer = await browser.back({ error: "user_cancelled_authorize", state }, "apple");
    expect(results(answer)).toEqual({ error: "access_denied" });
  });

  test("a name that is no text is left out", async () => {
    for (const user of ["", "{", "null", '{"name":7}', '{"name":{"firstName":{},"lastName":" "}}']) {
      const claims = somebody({ name: undefined });
      expect(await userOf(await signInAtApple(claims, user))).toMatchObject({ name: claims.sub });
    }
  });

  test("a form without a flow is refused after the redirect", async () => {
    const sent = await fetch(`${server.url}/api/auth/callback/apple`, {
      method: "POST",
      redirect: "manual",
      body: "state=x",
    });
    expect(sent.headers.get("location")).toBe("https://app.test/api/auth/callback/apple?state=x");
    expect(await new Browser(server).go(sent.headers.get("location") ?? "")).toMatchObject({ status: 400 });
  });
});

describe("the variables of a provider", () => {
  const start = (changed: Record<string, string>, production: boolean) =>
    startAuthServer(db, { definition, clients: { ...clients, ...changed }, production });

  test("may be missing outside production: the answer names them", async () => {
    const one = await start({ ACME_CLIENT_ID: "", ACME_CLIENT_SECRET: "" }, false);
    const { body, status } = await one.get("/sign-in/social/redirect?provider=acme");
    expect(status).toBe(404);
    expect(body).toMatchObject({
      error: "Sign-in with acme is not set up.",
      hint: "Set ACME_CLIENT_ID and ACME_CLIENT_SECRET in the environment of the service.",
    });
    await one.close();
  });

  test.for<[string, Record<string, string>, boolean, string]>([
    [
      "both missing in production",
      { ACME_CLIENT_ID: "", ACME_CLIENT_SECRET: "" },
      true,
      "ACME_CLIENT_ID and ACME_CLIENT_SECRET is not set",
    ],
    [
      "one missing",
      { OTHER_ONE_CLIENT_SECRET: "" },
      false,
      "the provider other-one, but OTHER_ONE_CLIENT_SECRET is not set",
    ],
    ["an issuer without TLS", { ACME_ISSUER: "http://login.example.com" }, false, "ACME_ISSUER must be an issuer"],
    ["a key that is none", { APPLE_CLIENT_SECRET: "secret" }, false, "APPLE_CLIENT_SECRET is not a key of Apple"],
  ])("%s: the service does not start", async ([, changed, production, message]) => {
    const failed = start(changed, production).then(async (one) => {
      await one.get("/sign-in/social/redirect?provider=acme");
      await one.close();
    });
    await expect(failed).rejects.toThrow(message);
  });
});

describe("defineAuth", () => {
  test.for<[string, object, RegExp]>([
    [
      "a name of another provider",
      { oidc: { google: { issuer: "https://x.test" } } },
      /is the name of another provider/,
    ],
    [
      "the password's own name",
      { oidc: { credential: { issuer: "https://x.test" } } },
      /is the name of another provider/,
    ],
    ["a name with capitals", { oidc: { Acme: { issuer: "https://x.test" } } }, /must be a name in lower case/],
    ["an issuer without TLS", { oidc: { acme: { issuer: "http://x.test" } } }, /must be an issuer such as/],
    ["all of Microsoft", { microsoft: { tenant: "common" } }, /must be the directory \(tenant\) id, a UUID/],
    ["a provider that is none", { gitlab: {} }, /"gitlab" is not a known key/],
  ])("refuses %s", ([, social, message]) => {
    expect(() => defineAuth({ social } as AuthDefinition)).toThrow(message);
  });

  test("reserves the names, so that no user can register a provider of that name by the sso plugin", () => {
    const options = libraryOptions(definition, {}, { secrets: [], baseURL: "http://localhost", basePath: "/api/auth" });
    const reserved = { enabled: false };
    const ids = ["google", "github", "microsoft", "apple", "acme", "other-one"];
    expect(options.socialProviders).toEqual(Object.fromEntries(ids.map((id) => [id, reserved])));
  });
});
