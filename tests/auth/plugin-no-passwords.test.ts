// If this file fails, a plugin signs people in by passwords that the application has switched off.
import { emailOTP, phoneNumber, username } from "better-auth/plugins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

const sent: string[] = [];
const definition = defineAuth({
  emailAndPassword: { enabled: false },
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      username(),
      emailOTP({ sendVerificationOTP: async ({ otp }) => void sent.push(otp) }),
      phoneNumber({
        sendOTP: ({ code }) => void sent.push(code),
        sendPasswordResetOTP: ({ code }) => void sent.push(code),
        signUpOnVerification: { getTempEmail: () => `${crypto.randomUUID()}@phone.invalid` },
      }),
    ],
  }),
});
const db = database();
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
});
afterAll(() => server.close());

test("without passwords, no endpoint of a plugin takes one or sets a forgotten one", async () => {
  const post = (path: string, body: object) => server.post(path, body, { headers: { origin } });
  const [number, email, password] = ["+4911", "ann@example.com", "correct horse"];
  await post("/phone-number/send-otp", { phoneNumber: number });
  expect((await post("/phone-number/verify", { phoneNumber: number, code: sent.at(-1) })).status).toBe(200);
  sent.length = 0;
  for (const [path, body] of [
    ["/sign-in/phone-number", { phoneNumber: number, password }],
    ["/sign-in/username", { username: "ann", password }],
    ["/phone-number/request-password-reset", { phoneNumber: number }],
    ["/phone-number/reset-password", { phoneNumber: number, otp: "1", newPassword: password }],
    ["/forget-password/email-otp", { email }],
    ["/email-otp/request-password-reset", { email }],
    ["/email-otp/reset-password", { email, otp: "1", password }],
  ] as const) {
    expect(await post(path, body), path).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  }
  expect(sent).toEqual([]);
  expect(await db.sql("select identifier from auth.verification")).toEqual([]);
});
