// If this file fails, an administrator who acted as a user for an hour keeps a way into the account.
import { readdirSync } from "node:fs";
import { passkey } from "@better-auth/passkey";
import { sso } from "@better-auth/sso";
import type { BetterAuthPlugin } from "better-auth";
import { createAuthEndpoint } from "better-auth/api";
import {
  admin,
  anonymous,
  customSession,
  deviceAuthorization,
  emailOTP,
  lastLoginMethod,
  magicLink,
  multiSession,
  oneTap,
  oneTimeToken,
  openAPI,
  organization,
  phoneNumber,
  siwe,
  twoFactor,
  username,
} from "better-auth/plugins";
import { createAccessControl } from "better-auth/plugins/access";
import { defaultStatements } from "better-auth/plugins/organization/access";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authPaths } from "../../src/auth/openapi.ts";
import { endpointsOf } from "../../src/auth/plugins/plugins.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { Schemas } from "../../src/kit/schemas.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { elsewhere, endpoints, own } from "./visit-endpoints.ts";

const nothing = async () => {};
const ac = createAccessControl(defaultStatements);
const installed = [
  admin({ allowImpersonatingAdmins: true }),
  anonymous(),
  customSession(async (session) => session),
  deviceAuthorization(),
  emailOTP({ sendVerificationOTP: nothing, changeEmail: { enabled: true } }),
  lastLoginMethod(),
  magicLink({ sendMagicLink: nothing }),
  multiSession(),
  oneTap(),
  oneTimeToken(),
  openAPI(),
  organization({ teams: { enabled: true }, dynamicAccessControl: { enabled: true }, ac }),
  passkey({ rpID: "app.test", origin }),
  phoneNumber({ sendOTP: nothing }),
  siwe({ domain: "app.test", getNonce: async () => "nonce", verifyMessage: async () => false }),
  sso({ domainVerification: { enabled: true } }),
  twoFactor({ otpOptions: { sendOTP: nothing } }),
  username(),
] as BetterAuthPlugin[];

/** Stands for a package that is not installed: its endpoints answer everybody. */
const packageOf = (id: string): BetterAuthPlugin => ({
  id,
  ...(id === "oauth-provider" && { options: { disableJwtPlugin: true } }),
  endpoints: Object.fromEntries(
    Object.keys(elsewhere[id] ?? {}).map((line) => {
      const [method = "GET", path = ""] = line.split(" ");
      return [line, createAuthEndpoint(path, { method: method as "GET" }, async ({ json }) => json({}))];
    }),
  ),
});
const plugins = [...installed.filter(({ id }) => id !== "passkey"), ...Object.keys(elsewhere).map(packageOf)];
const definition = defineAuth({
  passkeys: true,
  apiKeys: { prefix: "acme", scopes: ["*"] },
  betterAuth: (defaults) => ({ ...defaults, rateLimit: { enabled: false }, plugins }),
});

const db = database();
let server: AuthServer;
let acting: string;
beforeAll(async () => {
  // These packages' tables are not needed here, and the library's own endpoint /get-session is not mounted.
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
  const [boss, one] = [await person("boss"), await person("one")];
  acting = (await server.post("/admin/impersonate-user", { userId: one.id }, boss)).body.sessionToken;
});
afterAll(() => server.close());

async function person(name: string) {
  const { user, sessionToken } = (await server.signUp({ ...ann, email: `${name}@example.com` })).body;
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [user.id]);
  return { id: user.id as string, bearer: sessionToken as string };
}

const linesOf = (all: readonly BetterAuthPlugin[]) =>
  Object.fromEntries(
    all.map(({ id, ...plugin }) => [
      id,
      endpointsOf([{ id, ...plugin }]).flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`)),
    ]),
  );

test("every endpoint of every plugin is known to be refused or allowed", () => {
  const known = Object.fromEntries(Object.entries(endpoints).map(([id, lines]) => [id, Object.keys(lines).sort()]));
  const found = Object.fromEntries(Object.entries(linesOf(installed)).map(([id, lines]) => [id, lines.sort()]));
  expect(found).toEqual(known);
});

/** Folders of the library without endpoints that svc mounts: see `refused-plugins.ts`. The fifth asks a service of others. */
const others =
  `access additional-fields bearer captcha haveibeenpwned generic-oauth jwt oauth-popup oauth-proxy test-utils`.split(
    " ",
  );

test("every plugin of the library is known", () => {
  const folder = new URL("../../node_modules/better-auth/dist/plugins/", import.meta.url);
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const known = [...Object.keys(endpoints), ...others];
  expect(folders.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
});

const lines = [endpoints, elsewhere].flatMap((all) =>
  Object.values(all).flatMap((of) => Object.entries(of).map(([line, rule]) => ({ line, rule }))),
);

test.for(lines)("$line in a visit: $rule", async ({ line, rule }) => {
  const [method = "", path = ""] = line.split(" ");
  const url = `/api/auth${path.replace(/:\w+/, "x")}`;
  const headers = { origin, authorization: `Bearer ${acting}`, "content-type": "application/json" };
  const init = { method, headers, redirect: "manual" as const };
  const answer = await fetch(server.url + url, { ...init, ...(method === "POST" && { body: "{}" }) });
  const text = await answer.text();
  const isRefused = answer.status === 403 && text.includes("acts as a user");
  expect([answer.status, text, isRefused]).toEqual([answer.status, text, rule === "refused"]);
});

test("every endpoint of svc is known to be refused or allowed", () => {
  const found = authPaths(defineAuth({ apiKeys: { prefix: "acme", scopes: ["*"] } }), new Schemas());
  const lines = Object.entries(found).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(lines.sort()).toEqual(Object.keys(own).sort());
});

// Those that end the visit are the last ones.
test.for(Object.entries(own))("%s in a visit", async ([line, [rule, body = {}]]) => {
  const [method = "", path = ""] = line.split(" ");
  const headers = { origin, authorization: `Bearer ${acting}`, "content-type": "application/json" };
  const init = { method: method.toUpperCase(), headers, redirect: "manual" as const };
  const answer = await fetch(server.url + path, { ...init, ...(method === "post" && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  const isRefused = answer.status === 403 && text.includes("acts as a user");
  expect([answer.status, text, isRefused]).toEqual([answer.status, text, rule === "refused"]);
});

test("a visit, however its session is opened, authorizes no other application", async () => {
  const [boss, two] = [await person("boss-2"), await person("two")];
  const paths = ["/admin/impersonate-user", "/multi-session/set-active", "/one-time-token/verify"];
  for (const path of paths) {
    const given = { userId: two.id, sessionToken: "x", token: "x", oauth_query: "client_id=x&sig=x" };
    const { status, body } = await server.post(path, given, boss);
    expect([path, status, body.error]).toEqual([path, 403, expect.stringContaining("oauth_query")]);
  }
  expect(await db.sql("select from auth.session where user_id = $1", [two.id])).toHaveLength(1);
});
