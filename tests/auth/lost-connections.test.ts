// If this file fails, an answer says "not saved" for a saved change, so a client repeats it; or an error says nothing.
import { anonymous, organization } from "better-auth/plugins";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { type Database, database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

const definition = defineAuth({
  betterAuth: (defaults) => ({ ...defaults, rateLimit: { enabled: false }, plugins: [organization(), anonymous()] }),
});
const db = database();
/** COMMIT in the simple protocol, with its length. */
const commit = "Q\0\0\0\x0bcommit\0";
let proxy: CuttingProxy;
let server: AuthServer;

beforeAll(async () => {
  await migrateAuth(db, definition);
  proxy = await CuttingProxy.start(db.url("auth"));
  const through = { url: (login) => (login === "auth" ? proxy.url : db.url(login)) } as Database;
  server = await startAuthServer(through, { definition });
});
afterAll(async () => {
  await server.close();
  await proxy.stop();
});
beforeEach(() => {
  proxy.cut = undefined;
});

const users = async (email: string) => (await db.sql('select from auth."user" where email = $1', [email])).length;

test.for([
  ["before", 0],
  ["after", 1],
] as const)("a sign-up whose connection breaks %s the server has committed may be saved", async ([when, saved]) => {
  const email = `${when}@example.com`;
  proxy.cut = { at: commit, when };
  expect(await server.signUp({ ...ann, email })).toMatchObject({ status: 500, body: { code: "OUTCOME_UNKNOWN" } });
  expect(proxy.cuts).toBeGreaterThan(0);
  expect(await users(email)).toBe(saved);
});

test.for([
  ["user", "before"],
  ["user", "during"],
  ["account", "during"],
] as const)(
  "a sign-up whose connection breaks at its %s, %s that, is not saved, and may be sent again",
  async ([table, when]) => {
    const email = `${table}-${when}@example.com`;
    proxy.cut = { at: `insert into "auth"."${table}"`, when };
    const { status, body, headers } = await server.signUp({ ...ann, email });
    expect([status, body.code, headers.get("retry-after")]).toEqual([503, "UNAVAILABLE", "1"]);
    expect(await users(email)).toBe(0);
    proxy.cut = undefined;
    expect((await server.signUp({ ...ann, email })).status).toBe(200);
  },
);

test("a plugin that makes users says that the database cannot be reached", async () => {
  proxy.cut = { at: 'insert into "auth"."user"', when: "before" };
  const { status, body, headers } = await server.post("/sign-in/anonymous", {});
  expect([status, body.code, headers.get("retry-after")]).toEqual([503, "UNAVAILABLE", "1"]);
});

test("other endpoints that write say that the database cannot be reached: ours and a plugin's", async () => {
  const { sessionToken } = (await server.signUp()).body;
  const bearer = { bearer: sessionToken };
  proxy.cut = { at: 'update "auth"."user"', when: "before" };
  const change = { currentPassword: ann.password, newPassword: "another horse" };
  expect(await server.post("/change-password", change, bearer)).toMatchObject({
    status: 503,
    body: { code: "UNAVAILABLE" },
  });
  proxy.cut = { at: 'insert into "auth"."organization"', when: "before" };
  expect(await server.post("/organization/create", { name: "Horses", slug: "horses" }, bearer)).toMatchObject({
    status: 503,
    body: { code: "UNAVAILABLE" },
  });
});
