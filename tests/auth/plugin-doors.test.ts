// If this file fails, an endpoint of a plugin is reached without the checks that all others have.
import { createHash, createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { endpointsOf } from "../../src/auth/plugins/plugins.ts";
import { type Answer, type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { definition, plugins } from "./many-plugins.ts";

const secret = "what the bridge and this service share, at length";
const db = database();
let server: AuthServer;
let dead: string;
beforeAll(async () => {
  await migrateAuth(db, definition);
  const limits = { signInsPerAddress: 1, redemptionsPerAddress: 1 };
  server = await startAuthServer(db, { definition, limits, bridgeSecrets: [secret] });
  dead = (await server.signUp(ann)).body.sessionToken;
  await server.post("/sign-out", {}, { bearer: dead });
});
afterAll(() => server.close());
beforeEach(() => db.sql("delete from auth.attempt"));

/** All reachable endpoints, with values for path parameters. */
const endpoints = endpointsOf(plugins).flatMap(({ path, methods, body }) =>
  methods.map((method) => ({ method, path: path.replaceAll(/:\w+/g, "x"), body })),
);

interface Call {
  given?: Record<string, unknown>;
  headers?: Record<string, string>;
  bearer?: string;
}

function call(
  { method, path }: (typeof endpoints)[number],
  { given = {}, headers = {}, bearer }: Call,
): Promise<Answer> {
  const isReading = method === "GET";
  const query = isReading ? `?${new URLSearchParams(given as Record<string, string>)}` : "";
  const options = { headers: { origin, ...headers }, ...(bearer !== undefined && { bearer }) };
  return server.call(method, `/api/auth${path}${query}`, isReading ? undefined : given, options);
}

/** Uses up the attempts of every address. */
const exhaust = () =>
  db.sql(
    `insert into auth.attempt (kind, subject, count, began_at, ends_at, kept_until)
     select kind, '127.0.0.1', 1, now(), now() + interval '1 hour', now() + interval '1 hour'
       from unnest(array['signInsPerAddress', 'redemptionsPerAddress']) as kind`,
  );

test("there are endpoints to look at", () => {
  expect(endpoints.length).toBeGreaterThan(60);
  expect(new Set(endpoints.map(({ method }) => method))).toEqual(new Set(["GET", "POST"]));
});

test.for(endpoints)("$method $path takes no other body than the one that the bridge has signed", async (endpoint) => {
  const path = `/api/auth${endpoint.path}${endpoint.method === "GET" ? "?" : ""}`;
  const seconds = String(Math.floor(Date.now() / 1000));
  const known = ["v1", "192.0.2.1", seconds, createHash("sha256").update("another body").digest("base64url")];
  const signature = createHmac("sha256", secret).update([...known, endpoint.method, path, ""].join("\n"));
  const handed = [...known, signature.digest("base64url")].join(" ");
  const answer = await call(endpoint, { headers: { "svc-client-address": handed } });
  expect(answer.status).toBe(400);
  expect(answer.body.error).toContain("svc-client-address");
});

test.for(endpoints)("$method $path takes the token of a dead session for none", async (endpoint) => {
  const told = ({ status, body }: Answer) => ({ status, code: body?.code, error: body?.error });
  const none = told(await call(endpoint, {}));
  const cookie = `__Secure-authlib.session_token=${encodeURIComponent(dead)}`;
  expect(told(await call(endpoint, { headers: { cookie } }))).toEqual(none);
  expect(told(await call(endpoint, { bearer: dead }))).toEqual(none);
});

test.for(endpoints)(
  "$method $path counts a password, a code and a token before the plugin sees them",
  async (endpoint) => {
    await exhaust();
    for (const given of [{ password: "x" }, { code: "1" }, { otp: "1" }, { token: "x" }, { x: [{ userCode: "1" }] }]) {
      if (endpoint.method === "GET" && "x" in given) continue;
      expect((await call(endpoint, { given })).status, JSON.stringify(given)).toBe(429);
    }
  },
);

/** Keys whose values need no guess. A new key of a later library version must be classified here. */
const harmless = new Set(
  `additionalFields banExpiresIn banReason callbackURL clientId client_id data disableSession display displayUsername email
   errorCallbackURL fetchOptions grant_type id image invitationId issuer keepCurrentActiveOrganization limit logo memberId
   memberIdOrEmail message metadata method name newEmail newUserCallbackURL offset order organizationId organizationSlug
   permission permissions phoneNumber provider query redirectTo rememberMe resend role roleId roleName roles scope slug sort
   teamId trustDevice type updatePhoneNumber userId username walletAddress chainId user_id updates membersLimit permissionName`
    .split(/\s+/)
    .filter(Boolean),
);

/** Keys of the endpoints' own schemas. */
function keysOf(schema: unknown): string[] {
  if (!(schema instanceof z.ZodType)) return [];
  const json = z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });
  const parts = [json, ...(json.allOf ?? []), ...(json.anyOf ?? [])] as { properties?: object }[];
  return parts.flatMap(({ properties }) => Object.keys(properties ?? {}));
}

test("every key that an endpoint takes is counted, or is known to be no secret", async () => {
  await exhaust();
  // The application's own plugin names its password differently: it is counted where it is compared.
  const theirs = endpoints.filter(({ path }) => !path.startsWith("/own/"));
  const keys = new Set(theirs.flatMap(({ body }) => keysOf(body)));
  expect([...keys]).toEqual(expect.arrayContaining(["password", "newPassword", "code", "otp", "device_code"]));
  const [open] = endpoints.filter(({ path }) => path === "/sign-in/username");
  if (!open) throw new Error("no endpoint");
  for (const key of keys) {
    const isCounted = (await call(open, { given: { [key]: "x" } })).status === 429;
    expect(isCounted || harmless.has(key), key).toBe(true);
  }
});

test.for(endpoints)("$method $path takes no character that cannot be stored", async (endpoint) => {
  for (const given of [{ name: "a\0" }, { email: "a\0@example.com" }, { list: [{ "\0": "a" }] }, { id: "\ud800" }]) {
    const [[key, value]] = Object.entries(given) as [[string, unknown]];
    if (endpoint.method === "GET" && (typeof value !== "string" || !value.isWellFormed())) continue;
    const answer = await call(endpoint, { given: { [key]: value } });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("cannot be stored")]);
  }
});

test("a page that a stranger wants to be sent to is refused, and is no error of the service in the log", async () => {
  server.log.length = 0;
  const given = { email: "ann@example.com", callbackURL: "https://evil.test/" };
  expect(await server.post("/sign-in/magic-link", given)).toMatchObject({ status: 403 });
  const lines = server.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes("evil.test"));
  expect(lines).toMatchObject([{ level: 30 }]);
});
