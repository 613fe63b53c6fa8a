// If this file fails, an application cannot extend authentication, or cannot set the user fields that only it may set.
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { apiWith, secret, service } from "../support/service.ts";

const promote = procedure.mutation.name("auth.promote").handler(async ({ context }) => {
  const { id } = context.auth.requireAuth().user;
  await context.unsafeDb.execute(sql`update auth."user" set role = 'editor' where id = ${id}`);
});

const db = database();
const svc = service(db, apiWith({ procedures: { promote } }));
let server: AuthServer;
beforeAll(async () => {
  await db.sql(`set role svc_owner; alter table auth."user" add role text; reset role`);
  const fields = defineAuth({ user: { additionalFields: { role: { type: "text", default: "member" } } } });
  server = await startAuthServer(db, { definition: fields, secrets: [secret] });
});
afterAll(() => server.close());

test("trusted server code changes an additional field", async () => {
  const { sessionToken, user } = (await server.signUp()).body;
  const roleOf = async () => (await server.caller(sessionToken)).user.role;
  expect(await roleOf()).toBe("member");
  const caller = { ...user, sessionToken, token: sessionToken };
  expect(await svc.mutate(caller, "auth.promote")).toMatchObject({ status: 200 });
  await expect.poll(roleOf).toBe("editor"); // the process hears of the change, within a second
});

test("the betterAuth hook adds a plugin, which then takes part", async () => {
  const before = async (user: { name: string }) => ({ data: { ...user, name: user.name.toUpperCase() } });
  const plugin = { id: "loud", init: () => ({ options: { databaseHooks: { user: { create: { before } } } } }) };
  const loud = await startAuthServer(db, {
    definition: defineAuth({
      betterAuth: (defaults) => ({ ...defaults, plugins: [...(defaults.plugins ?? []), plugin] }),
    }),
  });
  expect((await loud.signUp({ ...ann, email: "loud@example.com" })).body.user.name).toBe("ANN");
  await loud.close();
});

test("every authentication route lies under /api/auth, and none beside it", async () => {
  const routes = {
    POST: ["sign-up", "sign-in", "token", "sign-out", "sign-up/email", "sign-in/email"],
    GET: ["me"],
  };
  for (const [method, paths] of Object.entries(routes)) {
    for (const path of paths) {
      const status = async (prefix: string) => (await svc.fetch(`${prefix}/${path}`, { method })).status;
      // Without valid input these answer with an error, but not with 404.
      expect([path, await status("/api/auth")]).not.toEqual([path, 404]);
      for (const elsewhere of ["", "/auth", "/api"]) expect([path, await status(elsewhere)]).toEqual([path, 404]);
    }
  }
});
