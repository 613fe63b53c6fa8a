// If this file fails, a stolen session survives the new password that its user sets by a plugin's endpoint.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { definition, sent } from "./many-plugins.ts";

const db = database();
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
});
afterAll(() => server.close());
beforeEach(() => db.sql(`delete from auth."user"`));

const password = "another horse";
const signUp = async (email: string): Promise<{ id: string; token: string }> => {
  const { body } = await server.signUp({ email, password: "correct horse", name: "Ann" });
  return { id: body.user.id, token: body.sessionToken };
};
const isAlive = async (bearer: string) => (await server.post("/token", {}, { bearer })).status === 200;
const post = (path: string, body: object, bearer?: string) =>
  server.post(path, body, { ...(bearer !== undefined && { bearer }), headers: { origin } });

/** Sets a new password for ann. */
const ways: [path: string, set: (id: string) => Promise<{ status: number }>][] = [
  [
    "/email-otp/reset-password",
    async () => {
      await post("/email-otp/request-password-reset", { email: "ann@example.com" });
      return post("/email-otp/reset-password", { email: "ann@example.com", otp: sent.at(-1), password });
    },
  ],
  [
    "/phone-number/reset-password",
    async (id) => {
      const phoneNumber = "+4911";
      await db.sql(`update auth."user" set phone_number = $2, phone_number_verified = true where id = $1`, [
        id,
        phoneNumber,
      ]);
      await post("/phone-number/request-password-reset", { phoneNumber });
      return post("/phone-number/reset-password", { phoneNumber, otp: sent.at(-1), newPassword: password });
    },
  ],
  [
    "/admin/set-user-password",
    async (userId) => {
      const { id, token } = await signUp("admin@example.com");
      await db.sql(`update auth."user" set role = 'admin' where id = $1`, [id]);
      return post("/admin/set-user-password", { userId, newPassword: password }, token);
    },
  ],
];

test.for(ways)("a password that is set at %s ends the sessions of its user", async ([, set]) => {
  const [ann, bob] = [await signUp("ann@example.com"), await signUp("bob@example.com")];
  expect([await isAlive(ann.token), await isAlive(bob.token)]).toEqual([true, true]);
  expect((await set(ann.id)).status).toBe(200);
  expect([await isAlive(ann.token), await isAlive(bob.token)]).toEqual([false, true]);
  expect((await server.post("/sign-in", { email: "ann@example.com", password })).status).toBe(200);
});

test("a first password that is set by a plugin ends them too", async () => {
  const ann = await signUp("ann@example.com");
  await db.sql("delete from auth.account");
  expect((await ways[0]?.[1](ann.id))?.status).toBe(200);
  expect(await isAlive(ann.token)).toBe(false);
});
