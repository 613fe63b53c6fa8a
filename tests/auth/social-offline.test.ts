// If this file fails, nobody gets to Google's page while its list of endpoints cannot be read, or to another page than Google's.
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OpenIdProvider } from "../../src/auth/social/openid.ts";
import { openProviders } from "../../src/auth/social/providers.ts";
import { createOriginPolicy } from "../../src/http/origin-policy.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

const log = pino({ level: "silent" });
const own = "https://app.test";
let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await startScriptedProvider();
  provider.metadata = { issuer: "https://another.test" }; // makes the list of endpoints useless
});
afterAll(() => provider.close());

test("with known endpoints, a sign-in is begun and finished without the list of them", async () => {
  const { issuer } = provider.settings;
  const endpoints = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
  };
  const google = new OpenIdProvider("google", provider.settings, { algorithm: "RS256", endpoints }, own, log);
  const { checks, url } = await google.begin();
  const sent = url("the-state");
  expect(`${sent.origin}${sent.pathname}`).toBe(endpoints.authorization_endpoint);
  expect(sent.searchParams.get("redirect_uri")).toBe(`${own}/api/auth/callback/google`);

  const finish = (idToken?: () => string) => {
    const claims = { sub: "p1", email: "pat@example.com", email_verified: true, name: "Pat" };
    const code = provider.code(checks.nonce, { claims, ...(idToken && { idToken }) });
    return google.finish(`?${new URLSearchParams({ code, state: "the-state" })}`, "the-state", checks);
  };
  expect(await finish()).toMatchObject({ profile: { email: "pat@example.com" } });
  expect(await finish(() => "e30.e30.e30"), "the signature is still checked").toHaveProperty("failure");
});

test("another issuer in Google's place has no known endpoints", async () => {
  const origins = createOriginPolicy({ configured: own, listening: own, frontendOrigins: [], customDomains: [] });
  const options = { definition: {}, origins, production: false, log };
  const google = openProviders({ ...options, google: provider.settings }).get("google");
  await expect(google?.begin()).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
