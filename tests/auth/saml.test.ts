// If this file fails, SAML by @better-auth/sso does not work as docs/how-to/better-auth-plugins.md says, or signs in strangers.
import { execFileSync } from "node:child_process";
import { createHash, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sso } from "@better-auth/sso";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

const idp = "https://idp.acme.example";
const page = "https://pages.test";
const acs = `${origin}/api/auth/sso/saml2/sp/acs/acme`;
const folder = bytesFolder();

function keyPair(name: string) {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.cert`)];
  const line = `req -x509 -newkey rsa:2048 -nodes -keyout ${key} -out ${cert} -days 2 -subj /CN=${name}`;
  execFileSync("openssl", line.split(" "), { stdio: "ignore" });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}

const [ours, others] = [keyPair("acme"), keyPair("mallory")];
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      sso({
        providersLimit: 0,
        defaultSSO: [
          {
            providerId: "acme",
            domain: "acme.example",
            samlConfig: {
              issuer: `${origin}/saml`,
              entryPoint: `${idp}/sso`,
              cert: ours.cert,
              callbackUrl: `${page}/welcome`,
              wantAssertionsSigned: true,
              idpMetadata: { entityID: `${idp}/metadata` },
              spMetadata: {},
            },
          },
        ],
      }),
    ],
  }),
});

const db = database();
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition, frontendOrigins: [page] });
});
afterAll(() => server.close());

/** Of the sign-in that began last: what the provider's page sends back, and what the browser keeps. */
let last = { state: "", cookie: "" };

/** @returns what the browser takes to the provider */
async function begin() {
  const body = { providerId: "acme", callbackURL: `${page}/welcome`, errorCallbackURL: `${page}/sign-in` };
  const answer = await server.post("/sign-in/sso", body, { headers: { origin: page } });
  expect(answer.status).toBe(200);
  const url = new URL(answer.body.url);
  const cookie = answer.headers.getSetCookie().find((line) => line.includes("relay_state=")) ?? "";
  expect(cookie).toMatch(/^__Secure-authlib\.relay_state=[^;]+;.*SameSite=None/);
  expect(cookie).toMatch(/; *Secure/i);
  const { inflateRawSync } = await import("node:zlib");
  const request = inflateRawSync(Buffer.from(url.searchParams.get("SAMLRequest") ?? "", "base64")).toString();
  const relayState = url.searchParams.get("RelayState") ?? "";
  last = { state: relayState, cookie: cookie.split(";", 1)[0] ?? "" };
  return { ...last, relayState, id: /ID="([^"]+)"/.exec(request)?.[1] ?? "" };
}

interface Claims {
  email?: string;
  audience?: string;
  recipient?: string;
  key?: string;
  /** Changes the response after it was signed. */
  tamper?: (xml: string) => string;
  until?: Date;
}

/** A signed response. Its XML is in canonical form already (exclusive XML canonicalization), so it is signed as text. */
function response(inResponseTo: string, claims: Claims = {}): string {
  const { email = "kim@acme.example", audience = `${origin}/saml`, recipient = acs, key = ours.key } = claims;
  const [now, until] = [new Date().toISOString(), (claims.until ?? new Date(Date.now() + 300_000)).toISOString()];
  const id = `_${crypto.randomUUID()}`;
  const assertion = (signature: string) =>
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" IssueInstant="${now}" Version="2.0">` +
    `<saml:Issuer>${idp}/metadata</saml:Issuer>${signature}<saml:Subject>` +
    `<saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${email}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData ` +
    `InResponseTo="${inResponseTo}" NotOnOrAfter="${until}" Recipient="${recipient}"></saml:SubjectConfirmationData>` +
    `</saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${now}" NotOnOrAfter="${until}">` +
    `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${now}" SessionIndex="${id}"><saml:AuthnContext><saml:AuthnContextClassRef>` +
    `urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
    `<saml:AttributeStatement><saml:Attribute Name="email"><saml:AttributeValue>${email}</saml:AttributeValue>` +
    `</saml:Attribute></saml:AttributeStatement></saml:Assertion>`;
  const digest = createHash("sha256").update(assertion("")).digest("base64");
  const ds = ' xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';
  const info = (namespace: string) =>
    `<ds:SignedInfo${namespace}><ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#">` +
    `</ds:CanonicalizationMethod><ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256">` +
    `</ds:SignatureMethod><ds:Reference URI="#${id}"><ds:Transforms>` +
    `<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"></ds:Transform>` +
    `<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:Transform></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>` +
    `<ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ds:SignedInfo>`;
  const value = sign("sha256", Buffer.from(info(ds)), key).toString("base64");
  const signature = `<ds:Signature${ds}>${info("")}<ds:SignatureValue>${value}</ds:SignatureValue></ds:Signature>`;
  const xml =
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" Destination="${acs}" ID="_${crypto.randomUUID()}" ` +
    `InResponseTo="${inResponseTo}" IssueInstant="${now}" Version="2.0">` +
    `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${idp}/metadata</saml:Issuer><samlp:Status>` +
    `<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"></samlp:StatusCode></samlp:Status>` +
    `${assertion(signature)}</samlp:Response>`;
  return Buffer.from(claims.tamper?.(xml) ?? xml).toString("base64");
}

/** As the provider's page sends it: a form. @param cookie of the browser (Default: it began the last sign-in) */
async function deliver(SAMLResponse: string, RelayState: string, from = idp, cookie = last.cookie) {
  const answer = await fetch(`${server.url}/api/auth/sso/saml2/sp/acs/acme`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: from, ...(cookie && { cookie }) },
    body: new URLSearchParams({ SAMLResponse, RelayState }),
  });
  const cookies = answer.headers.getSetCookie().filter((line) => /session_token=[^;]/.test(line));
  return { status: answer.status, to: answer.headers.get("location"), isIn: cookies.length > 0 };
}

test("a user signs in, once, by a response to the request of this sign-in", async () => {
  const { relayState, id } = await begin();
  const signed = response(id);
  expect(await deliver(signed, relayState)).toEqual({ status: 302, to: `${page}/welcome`, isIn: true });
  expect(await deliver(signed, relayState)).toMatchObject({ isIn: false });
  expect(await deliver(signed, "")).toMatchObject({ isIn: false });
  expect(await db.sql(`select email, email_verified from auth."user"`)).toEqual([
    { email: "kim@acme.example", email_verified: false },
  ]);
});

test("an answer ends the sign-in of the browser that began it, and of no other: an attacker's own answer signs nobody in", async () => {
  const [attackers, own] = [await begin(), await begin()];
  const answer = response(attackers.id, { email: "kim@mallory.example" });
  const lost = { status: 303, to: `${origin}/?error=state_mismatch`, isIn: false };
  for (const [what, state, cookie] of [
    ["a browser that began nothing", attackers.relayState, ""],
    ["one that began another sign-in", attackers.relayState, own.cookie],
    ["the same, and the state of its own sign-in is left out", "", own.cookie],
    ["two cookies", attackers.relayState, `${own.cookie}; ${attackers.cookie}`],
  ] as const) {
    expect(await deliver(answer, state, idp, cookie), what).toEqual(lost);
  }
  // With the state of the other browser the plugin sees two sign-ins.
  expect(await deliver(answer, own.relayState, idp, attackers.cookie)).toEqual(lost);
  const json = await fetch(`${server.url}/api/auth/sso/saml2/sp/acs/acme`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: idp, cookie: own.cookie, "content-type": "application/json" },
    body: JSON.stringify({ SAMLResponse: answer, RelayState: attackers.relayState }),
  });
  expect(json.status).toBe(303);
  expect(await db.sql(`select email from auth."user" where email like '%mallory%'`)).toEqual([]);
  expect(await deliver(answer, attackers.relayState, idp, attackers.cookie)).toMatchObject({ isIn: true });
});

test("no page but the provider's delivers an answer, also none of ours", async () => {
  const { relayState, id } = await begin();
  for (const from of ["https://evil.example", "null", page, origin]) {
    expect(await deliver(response(id), relayState, from), from).toEqual({ status: 403, to: null, isIn: false });
  }
});

test("responses of others, for others, changed ones and unasked ones sign nobody in", async () => {
  const unsigned = (xml: string) => xml.replace(/<ds:Signature.*<\/ds:Signature>/, "");
  const asCeo = (xml: string) => xml.replaceAll("kim@", "ceo@");
  // The signed assertion stays, and another one stands before it.
  const wrapped = (xml: string) => {
    const [assertion = ""] = /<saml:Assertion.*<\/saml:Assertion>/.exec(xml) ?? [];
    return xml.replace(assertion, asCeo(unsigned(assertion)).replace(/ ID="[^"]+"/, ' ID="_evil"') + assertion);
  };
  for (const [what, claims] of Object.entries({
    "another key": { key: others.key },
    "another audience": { audience: "https://other.example" },
    "another recipient": { recipient: "https://other.example/acs" },
    "an old one": { until: new Date(Date.now() - 3_600_000) },
    "no signature": { tamper: unsigned },
    "another name": { tamper: asCeo },
    "a second assertion": { tamper: wrapped },
  } satisfies Record<string, Claims>)) {
    const { relayState, id } = await begin();
    expect(await deliver(response(id, claims), relayState), what).toMatchObject({ isIn: false });
  }
  const { relayState } = await begin();
  expect(await deliver(response("_nobody-asked"), relayState)).toMatchObject({ isIn: false });
  expect(await db.sql(`select email from auth."user" where email not like 'kim@%'`)).toEqual([]);
});

test("a provider does not sign in as a user that there is", async () => {
  await server.signUp({ email: "ceo@acme.example", password: "correct horse", name: "Ceo" });
  await db.sql(`update auth."user" set email_verified = true`);
  const { relayState, id } = await begin();
  const answer = await deliver(response(id, { email: "ceo@acme.example" }), relayState);
  expect(answer).toMatchObject({ isIn: false, to: expect.stringContaining("error=account_not_linked") });
});

test("a provider that a user has registered is known by its own page, too", async () => {
  const { body } = await server.signUp({ email: "lee@example.com", password: "correct horse", name: "Lee" });
  const samlConfig = JSON.stringify({ entryPoint: "https://idp.other.example/sso" });
  await db.sql(
    `insert into auth.sso_provider (id, issuer, provider_id, domain, user_id, saml_config) values ('1', 'x', 'other', 'other.example', $1, $2)`,
    [body.user.id, samlConfig],
  );
  const deliver = async (id: string, from: string) => {
    const form = new URLSearchParams({ SAMLResponse: "x" });
    const url = `${server.url}/api/auth/sso/saml2/sp/acs/${id}`;
    return (await fetch(url, { method: "POST", redirect: "manual", headers: { origin: from }, body: form })).status;
  };
  expect(await deliver("other", idp)).toBe(403);
  expect(await deliver("other", "https://idp.other.example")).not.toBe(403);
  for (const id of ["nobody", "%00", "acme"]) expect(await deliver(id, "https://idp.other.example"), id).toBe(403);
});
