// If this file fails, an administrator who acts as a guest signs in, and so deletes the guest and takes its rows.
import { admin, anonymous, username } from "better-auth/plugins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

const linked: string[] = [];
const plugins = [
  admin(),
  username(),
  anonymous({
    onLinkAccount({ anonymousUser }) {
      linked.push(anonymousUser.user.id);
    },
  }),
];
const definition = defineAuth({
  betterAuth: (defaults) => ({ ...defaults, rateLimit: { enabled: false }, plugins }),
});
const db = database();
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
});
afterAll(() => server.close());

test("a guest is linked by a sign-in of its own, and by none of an administrator who acts as the guest", async () => {
  const headers = { origin, "svc-session": "token" };
  const guest = async () => (await server.post("/sign-in/anonymous", {}, { headers })).body;
  const { user, sessionToken } = (await server.signUp()).body;
  await db.sql(`update auth."user" set role = 'admin', username = 'ann' where id = $1`, [user.id]);
  const signIn = (bearer: string) =>
    server.post("/sign-in/username", { username: "ann", password: ann.password }, { bearer, headers });

  const visited = await guest();
  const visit = await server.post("/admin/impersonate-user", { userId: visited.user.id }, { bearer: sessionToken });
  const refused = await signIn(visit.body.sessionToken);
  expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining("acts as a user")]);
  expect(linked).toEqual([]);
  expect(await db.sql(`select id from auth."user" where id = $1`, [visited.user.id])).toHaveLength(1);

  const own = await guest();
  expect((await signIn(own.sessionToken)).status).toBe(200);
  expect(linked).toEqual([own.user.id]);
  expect(await db.sql(`select id from auth."user" where id = $1`, [own.user.id])).toEqual([]);
});
