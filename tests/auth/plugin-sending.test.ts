// If this file fails, a provider of messages holds up sign-ins, its answers tell who has an account, or its errors put codes into
// the log.
import { emailOTP, phoneNumber, twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { asked, enrolled } from "./second-factor.ts";

/** What a provider has been given. Each message ends when the test says so. */
let given: { to: string; code: string; finish: (error?: Error) => void }[] = [];
const send = (to: string, code: string) =>
  new Promise<void>((resolve, reject) => {
    given.push({ to, code, finish: (error) => (error ? reject(error) : resolve()) });
  });
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      emailOTP({ sendVerificationOTP: ({ email, otp }) => send(email, otp) }),
      phoneNumber({
        sendOTP: ({ phoneNumber: number, code }) => send(number, code),
        sendPasswordResetOTP: ({ phoneNumber: number, code }) => send(number, code),
      }),
      twoFactor({ otpOptions: { sendOTP: ({ user, otp }) => send(user.email, otp) } }),
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
beforeEach(() => {
  given = [];
});
const page = { headers: { origin } };

test("codes are sent beside the answer: nobody waits for the provider, nor can tell whether it was asked", async () => {
  const user = (await server.signUp()).body.user;
  await db.sql(`update auth."user" set phone_number = '+4911', phone_number_verified = true where id = $1`, [user.id]);
  const person = await enrolled(server);
  const browser = await asked(server, person);
  for (const [path, body] of [
    ["/phone-number/send-otp", { phoneNumber: "+4922" }],
    ["/phone-number/request-password-reset", { phoneNumber: "+4911" }],
    ["/email-otp/send-verification-otp", { email: ann.email, type: "forget-password" }],
    ["/email-otp/request-password-reset", { email: ann.email }],
  ] as const) {
    expect(await server.post(path, body, page), path).toMatchObject({ status: 200 });
  }
  expect((await browser.post("/two-factor/send-otp", {})).status).toBe(200);
  expect(given.map(({ to }) => to)).toEqual(["+4922", "+4911", ann.email, ann.email, person.email]);
  for (const { finish } of given) finish();
});

test("an error of the provider is one line in the log, without the code, the number and the address", async () => {
  await server.post("/phone-number/send-otp", { phoneNumber: "+4915112345678" }, page);
  await server.post("/email-otp/send-verification-otp", { email: "eve@example.com", type: "sign-in" }, page);
  const [text, mail] = given;
  text?.finish(new TypeError(`21211: To=+49 151 12345678&Body=${text.code} is refused with 400`));
  mail?.finish(new Error(`eve@example.com: "${mail.code}" bounced`));
  const lines = () => server.log.filter((line) => line.includes("a message of a plugin could not be sent"));
  await expect.poll(lines).toHaveLength(2);
  expect(lines()[0]).toContain("TypeError");
  expect(lines()[0]).toContain("refused with 400");
  for (const secret of [text?.code, mail?.code, "12345678", "eve@"])
    expect(server.log.join("\n")).not.toContain(secret);
});

test("a service that stops waits for the messages that are being sent", async () => {
  const stopping = await startAuthServer(db, { definition });
  await stopping.post("/phone-number/send-otp", { phoneNumber: "+4933" }, page);
  const order: string[] = [];
  const closed = stopping.close().then(() => order.push("stopped"));
  setTimeout(() => {
    order.push("sent");
    given[0]?.finish();
  }, 200);
  await closed;
  expect(order).toEqual(["sent", "stopped"]);
});
