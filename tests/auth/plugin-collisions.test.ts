// If this file fails, a better-auth plugin replaces an endpoint or a table, and no error says so.
import type { BetterAuthPlugin } from "better-auth";
import { createAuthEndpoint } from "better-auth/api";
import { admin, bearer, captcha, genericOAuth, jwt, oAuthProxy, organization } from "better-auth/plugins";
import { describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { DefinitionError } from "../../src/kit/definition-error.ts";
import { startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
const passkey: BetterAuthPlugin = { id: "passkey", schema: { passkey: { fields: { userId: { type: "string" } } } } };
const endpoint = (path: string) => createAuthEndpoint(path, { method: "POST" }, async (context) => context.json({}));

describe("the service does not start", () => {
  const pathed = (path: string) => ({ id: "strange", endpoints: { strange: endpoint(path) } });
  test.for<[string, object | undefined, RegExp]>([
    ["with a path of ours", pathed("/sign-in"), /\/api\/auth\/sign-in\b/],
    ["with a pattern that fits one of ours", pathed("/:anything"), /"strange".*\/api\/auth\/:anything/],
    ["with a path of the library", pathed("/change-email"), /change-email/],
    ["with a pattern that fits one of the library", pathed("/reset-password/:id"), /reset-password/],
    ["with a wildcard", pathed("/strange/**"), /cannot be mounted/],
    ["with a path that climbs", pathed("/strange/a b"), /cannot be mounted/],
    ["with jwt(), whose table and paths are ours", jwt(), /"jwt" is not needed/],
    ["with a table of ours", { id: "strange", schema: { jwks: { fields: {} } } }, /auth\.jwks/],
    [
      "with oauthProvider(), as it needs jwt()",
      { id: "oauth-provider", options: {} },
      /"oauth-provider" would need jwt\(\)/,
    ],
    ["with a plugin that was not called", organization, /plugins\[0\] .* is not a plugin but a function/],
    ["with a plugin under a condition that is not met", undefined, /plugins\[0\] .* is not a plugin but undefined/],
    [
      "with captcha(), which svc's sign-up and sign-in would not ask",
      captcha({ provider: "hcaptcha", secretKey: "x" }),
      /"captcha" protects nothing here/,
    ],
    [
      "with genericOAuth(), which adds providers to endpoints that are not there",
      genericOAuth({ config: [] }),
      /"generic-oauth" adds no sign-in here/,
    ],
    ["with oAuthProxy(), likewise", oAuthProxy(), /"oauth-proxy" does nothing here/],
    [
      "with sso() that believes each provider about every address",
      { id: "sso", options: { trustEmailVerified: true } },
      /"sso" has trustEmailVerified: true/,
    ],
    [
      "with admin() whose columns have names of their own",
      { id: "admin", options: { schema: { session: { fields: { impersonatedBy: "visitor" } } } } },
      /"admin" has the option schema/,
    ],
    [
      "with deviceAuthorization() whose columns have names of their own: an operator's sign-out would miss its devices",
      // As an object, since the plugin would change its schema for the other tests, too.
      { id: "device-authorization", options: { schema: { deviceCode: { fields: { userId: "owner" } } } } },
      /"device-authorization" has the option schema/,
    ],
    ["with bearer(), which takes unsigned tokens", bearer(), /"bearer" is not needed/],
    [
      "with two plugins that want one column",
      { id: "strange", schema: { user: { fields: { email_verified: { type: "boolean" } } } } },
      /auth\.user\.email_verified/,
    ],
  ])("%s", async ([, plugin, names]) => {
    const definition = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [plugin as never] }) });
    const started = startAuthServer(db, { definition });
    await expect(started).rejects.toThrow(names);
    await expect(started).rejects.toThrow(DefinitionError);
  });

  test("but does with a plugin of many endpoints", async () => {
    const definition = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [organization()] }) });
    const started = await startAuthServer(db, { definition });
    expect(await started.get("/organization/list")).toMatchObject({ status: 401 });
    await started.close();
  });
});

test("a document at a well-known place, which a plugin answers before the endpoints, can be read", async () => {
  const path = "/.well-known/openid-configuration";
  const hidden = { method: "GET", metadata: { SERVER_ONLY: true } } as const;
  const plugin = {
    id: "provider",
    endpoints: {
      document: createAuthEndpoint(path, hidden, async (context) => context.json({})),
      secret: createAuthEndpoint("/provider/secret", hidden, async (context) => context.json({})),
    },
    onRequest: async ({ url }: Request) => {
      if (new URL(url).pathname === `/api/auth${path}`) return { response: Response.json({ issuer: "here" }) };
    },
  };
  const definition = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [plugin] }) });
  const started = await startAuthServer(db, { definition });
  expect(await started.get(path)).toMatchObject({ status: 200, body: { issuer: "here" } });
  expect((await started.get("/provider/secret")).status).toBe(404);
  await started.close();
});

test("tables and columns of plugins that no migration has made are named at start", async () => {
  const definition = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [admin(), passkey] }) });
  const started = await startAuthServer(db, { definition });
  const said = started.log.map((line) => JSON.parse(line)).find(({ missing }) => missing);
  expect(said).toMatchObject({ level: 40, msg: expect.stringContaining("svc migrate generate") });
  expect(said.missing).toEqual(expect.arrayContaining(["user.banned", "session.impersonated_by", "passkey"]));
  await started.close();
});

test("nothing is said to be missing without plugins", async () => {
  const started = await startAuthServer(db);
  expect(started.log.filter((line) => line.includes("missing"))).toEqual([]);
  await started.close();
});
