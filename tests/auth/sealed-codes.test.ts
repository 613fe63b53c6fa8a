// If this file fails, a reader of the database signs in with the codes that plugins store, or right codes are refused.
import { emailOTP, phoneNumber, twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, secret, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { asked, enrolled } from "./second-factor.ts";

let codes: string[] = [];
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      emailOTP({ sendVerificationOTP: async ({ otp }) => void codes.push(otp), resendStrategy: "reuse" }),
      phoneNumber({
        sendOTP: ({ code }) => void codes.push(code),
        requireVerification: true,
        signUpOnVerification: { getTempEmail: (number) => `${number}@phone.invalid` },
      }),
      twoFactor({ otpOptions: { sendOTP: ({ otp }) => void codes.push(otp) } }),
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
  codes = [];
});
const page = { headers: { origin } };
const post = async (path: string, body: object) => (await server.post(path, body, page)).status;
const stored = async () => JSON.stringify(await db.sql("select identifier, value from auth.verification"));

test("codes are stored encrypted, also after a wrong try and where the plugin reuses them, and the right one is accepted", async () => {
  await server.signUp();
  const browser = await asked(server, await enrolled(server));
  expect(await post("/phone-number/send-otp", { phoneNumber: "+4915112345678" })).toBe(200);
  for (const _ of [1, 2]) await post("/email-otp/send-verification-otp", { email: ann.email, type: "sign-in" });
  expect((await browser.post("/two-factor/send-otp", {})).status).toBe(200);
  const [text = "", mail = "", again, factor = ""] = codes;
  expect(again).toBe(mail);
  expect(await post("/phone-number/verify", { phoneNumber: "+4915112345678", code: "wrong" })).toBe(400);
  expect(await post("/email-otp/check-verification-otp", { email: ann.email, type: "sign-in", otp: "wrong" })).toBe(
    400,
  );
  for (const code of [text, mail, factor]) expect(await stored()).not.toContain(code);
  expect(await post("/phone-number/verify", { phoneNumber: "+4915112345678", code: text })).toBe(200);
  expect(await post("/email-otp/check-verification-otp", { email: ann.email, type: "sign-in", otp: mail })).toBe(200);
  expect(await post("/sign-in/email-otp", { email: ann.email, otp: mail })).toBe(200);
  expect((await browser.post("/two-factor/verify-otp", { code: factor })).status).toBe(200);
});

test("a code is tried as often as the plugin allows", async () => {
  const verify = (code: string) => post("/phone-number/verify", { phoneNumber: "+4915100000002", code });
  await post("/phone-number/send-otp", { phoneNumber: "+4915100000002" });
  expect([await verify("1"), await verify("2"), await verify("3")]).toEqual([400, 400, 400]);
  expect(await verify(codes[0] ?? "")).toBe(403);
});

test("a code that a sign-in by password sends is encrypted, and ids of users are found again", async () => {
  const { user } = (await server.signUp({ ...ann, email: "kim@example.com" })).body;
  await db.sql(`update auth."user" set phone_number = '+4915100000004' where id = $1`, [user.id]);
  const body = { phoneNumber: "+4915100000004", password: ann.password };
  expect(await post("/sign-in/phone-number", body)).toBe(401);
  expect(await stored()).not.toContain(codes[0]);
  expect(await post("/phone-number/verify", { phoneNumber: "+4915100000004", code: codes[0] })).toBe(200);
  const { internalAdapter } = (await server.auth.signIn()).library.context;
  const expiresAt = new Date(Date.now() + 60_000);
  await internalAdapter.createVerificationValue({ identifier: "trust-device-x", value: "1234567", expiresAt });
  expect(await stored()).toContain('"1234567"');
});

test("a code outlives the secret's rotation, and one that an earlier version has stored is accepted", async () => {
  await post("/phone-number/send-otp", { phoneNumber: "+4915100000003" });
  const next = await startAuthServer(db, { definition, secrets: [`another ${secret}`, secret] });
  const verify = async (number: string, code = "") =>
    (await next.post("/phone-number/verify", { phoneNumber: number, code }, page)).status;
  expect(await verify("+4915100000003", codes[0])).toBe(200);
  await db.sql(
    `insert into auth.verification (id, identifier, value, expires_at) values ('1', '+4944', '123456:0', now() + interval '1 minute')`,
  );
  expect(await verify("+4944", "123456")).toBe(200);
  await next.close();
});

test("a process of an earlier version, which reads the stored values as they are, accepts no code that can be guessed, and counts tries", async () => {
  const number = "+4915100000005";
  const mailbox = "lou@example.com";
  await post("/phone-number/send-otp", { phoneNumber: number });
  await post("/email-otp/send-verification-otp", { email: mailbox, type: "sign-in" });
  const { adapter } = (await server.auth.signIn()).library.context;
  const earlier = async (identifier: string) => {
    const where = [{ field: "identifier", value: identifier }];
    return (await adapter.findOne<{ value: string }>({ model: "verification", where }))?.value ?? "";
  };
  for (const identifier of [number, `sign-in-otp-${mailbox}`]) {
    const value = await earlier(identifier);
    for (const compared of [value.split(":")[0] ?? "", value.slice(0, value.lastIndexOf(":"))])
      expect(compared.length).toBeGreaterThan(80);
    expect(value).toMatch(/^[^:]+:0$/);
    // It has compared a wrong code.
    const next = `${value.slice(0, -1)}2`;
    await db.sql("update auth.verification set value = $2 where identifier = $1", [identifier, next]);
  }
  const [text = "", mail = ""] = codes;
  expect(await post("/phone-number/verify", { phoneNumber: number, code: "wrong" })).toBe(400);
  expect(await post("/phone-number/verify", { phoneNumber: number, code: text })).toBe(403);
  expect(await post("/sign-in/email-otp", { email: mailbox, otp: mail })).toBe(200);
});

test("a code that no secret of the list decrypts is none, and another one can be asked for", async () => {
  const page = { headers: { origin } };
  await post("/phone-number/send-otp", { phoneNumber: "+4915100000006" });
  await post("/email-otp/send-verification-otp", { email: "max@example.com", type: "sign-in" });
  const next = await startAuthServer(db, { definition, secrets: [`another ${secret}`] });
  const ask = async (path: string, body: object) => (await next.post(path, body, page)).status;
  expect(await ask("/phone-number/verify", { phoneNumber: "+4915100000006", code: codes[0] })).toBe(400);
  expect(await ask("/sign-in/email-otp", { email: "max@example.com", otp: codes[1] })).toBe(400);
  expect(await ask("/email-otp/send-verification-otp", { email: "max@example.com", type: "sign-in" })).toBe(200);
  expect(await ask("/sign-in/email-otp", { email: "max@example.com", otp: codes[2] })).toBe(200);
  await next.close();
});
