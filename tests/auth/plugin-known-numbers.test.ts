// If this file fails, the time of an answer tells which telephone numbers have an account with a password.
import { phoneNumber } from "better-auth/plugins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

/** Each takes as long as the other. */
let work = 0;
const password = {
  hash: async (text: string) => {
    work++;
    return `hash of ${text}`;
  },
  verify: async ({ hash, password: text }: { hash: string; password: string }) => {
    work++;
    return hash === `hash of ${text}`;
  },
};
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    emailAndPassword: { enabled: true, password },
    plugins: [phoneNumber({ sendOTP: () => {} })],
  }),
});
const db = database();
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition, costlyPasswords: true });
});
afterAll(() => server.close());

test("a wrong password costs one hash, with an account, without one, and without its password", async () => {
  const [user, other] = [
    (await server.signUp()).body.user,
    (await server.signUp({ ...ann, email: "b@example.com" })).body.user,
  ];
  const give = `update auth."user" set phone_number = $2, phone_number_verified = true where id = $1`;
  await db.sql(give, [user.id, "+4911"]);
  await db.sql(give, [other.id, "+4922"]);
  await db.sql("delete from auth.account where user_id = $1", [other.id]);
  for (const number of ["+4911", "+4922", "+4933"]) {
    work = 0;
    const body = { phoneNumber: number, password: "wrong horse" };
    expect(await server.post("/sign-in/phone-number", body, { headers: { origin } }), number).toMatchObject({
      status: 401,
    });
    expect(work, number).toBe(1);
  }
});
