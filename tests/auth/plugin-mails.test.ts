// If this file fails, a plugin lets strangers fill a user's mailbox, or send unwanted mail through the service.
import { createAuthEndpoint } from "better-auth/api";
import { emailOTP, magicLink, organization, phoneNumber, twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { asked, enrolled } from "./second-factor.ts";

const sent: string[] = [];
/** Neither word of its path says that it sends. */
const knocking = {
  id: "knocking",
  endpoints: {
    knock: createAuthEndpoint(
      "/otp/knock",
      { method: "POST", body: z.object({ email: z.string() }) },
      async ({ body, json }) => {
        sent.push(body.email);
        return json({});
      },
    ),
  },
};
const definition = defineAuth({
  emailAndPassword: { sendResetPassword: ({ email }) => void sent.push(email) },
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      magicLink({ sendMagicLink: ({ email }) => void sent.push(email) }),
      emailOTP({ sendVerificationOTP: async ({ email }) => void sent.push(email) }),
      organization({ sendInvitationEmail: async ({ email }) => void sent.push(email) }),
      phoneNumber({ sendOTP: ({ phoneNumber: number }) => void sent.push(number), requireVerification: true }),
      knocking,
      twoFactor({ otpOptions: { sendOTP: async ({ user }) => void sent.push(user.email) } }),
    ],
  }),
});

const db = database();
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition, limits: { mailsPerAccount: 2, mailsPerAddress: 4 } });
});
afterAll(() => server.close());
beforeEach(async () => {
  await db.sql("delete from auth.attempt");
  sent.length = 0;
});

const limited = { status: 429, body: { code: "RATE_LIMITED" } };
const page = { headers: { origin } };
const link = (email: string) => server.post("/sign-in/magic-link", { email }, page);
const code = (email: string) => server.post("/email-otp/send-verification-otp", { email, type: "sign-in" }, page);

test("all mails to one address are one count: links, codes and resets, however the address is spelled", async () => {
  expect((await link("bob@example.com")).status).toBe(200);
  expect((await code("BOB@example.com")).status).toBe(200);
  for (const again of [link, code]) {
    const refused = await again("Bob@Example.com");
    expect(refused).toMatchObject(limited);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);
  }
  expect(await server.post("/request-password-reset", { email: "bob@example.com", redirectTo: "/" })).toMatchObject(
    limited,
  );
  expect((await link("carol@example.com")).status).toBe(200);
  expect(sent).not.toContain("Bob@Example.com");
  expect(sent.length).toBeLessThanOrEqual(3);
});

test("a client address asks for so many, to whomever", async () => {
  const statuses = [];
  for (const who of ["a", "b", "c", "d", "e"]) statuses.push((await link(`${who}@example.com`)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 429]);
});

test("text messages count likewise: to a telephone, however its number is spelled, and from a client address", async () => {
  const text = (number: string) => server.post("/phone-number/send-otp", { phoneNumber: number }, page);
  expect([(await text("+49 151")).status, (await text("+49-151")).status]).toEqual([200, 200]);
  expect(await text("+49151")).toMatchObject(limited);
  for (const other of ["+491", "+492"]) expect((await text(other)).status).toBe(200);
  expect(await text("+493")).toMatchObject(limited);
  const { sessionToken: bearer } = (await server.signUp({ ...ann, email: "texts@example.com" })).body;
  expect(await server.post("/phone-number/send-otp", { phoneNumber: "+494" }, { bearer })).toMatchObject(limited);
  expect(sent).toEqual(["+49 151", "+49-151", "+491", "+492"]);
});

test("no spelling of a telephone number makes it another telephone", async () => {
  const text = async (number: string) =>
    (await server.post("/phone-number/send-otp", { phoneNumber: number }, page)).status;
  for (const [first, ...others] of [
    [
      "+4915112345678",
      "004915112345678",
      "011 49 151 12345678",
      "0011 49 151 12345678",
      "+49 (0)151 12345678",
      "+49\u200b151-123.456/78",
      "+4915112345678;ext=9",
      "+4915112345678x1",
      "tel:+4915112345678",
    ],
    ["+4930123456789", "+49３0123456789", "＋\u{1d7d2}930123456789", "+4930123456789,,12", "+49 030 123456789"],
    ["030123456789", "30 1234-56789", "4930123456789"],
    ["+٤٩30123456780", "+4930123٤56780", "+4930123456۷80", "+4930१23456780", "+1 415 FLOWERS", "+1 415 356 93PP"],
  ] as const) {
    await db.sql("delete from auth.attempt");
    expect([await text(first), await text(first)]).toEqual([200, 200]);
    for (const other of others) expect(await text(other), other).toBe(429);
  }
});

test("telephones whose numbers end alike have limits of their own", async () => {
  const text = async (number: string) =>
    (await server.post("/phone-number/send-otp", { phoneNumber: number }, page)).status;
  expect([await text("+14155550100"), await text("+14155550100"), await text("+1 (415) 555-0100")]).toEqual([
    200, 200, 429,
  ]);
  for (const other of ["+444155550100", "+12155550100"]) expect(await text(other), other).toBe(200);
});

test("all addresses of a mailbox are one count: what stands behind a + makes no other one", async () => {
  expect([(await link("dora+1@example.com")).status, (await code("dora+b+c@example.com")).status]).toEqual([200, 200]);
  for (const again of ["dora@example.com", "Dora+2@example.com"])
    expect(await link(again), again).toMatchObject(limited);
  for (const other of ["dora@example.org", "+dora@example.com"]) expect((await link(other)).status, other).toBe(200);
});

test("a request that names many telephones or addresses takes no limit from them", async () => {
  const others = Array.from({ length: 9 }, (_, n) => ({ phoneNumber: `+49150000000${n}`, email: `${n}@example.com` }));
  const body = { phoneNumber: "+4915112345678", others };
  expect(await server.post("/phone-number/send-otp", body, page)).toMatchObject({ status: 400 });
  expect(await db.sql("select count(*)::integer as count from auth.attempt")).toEqual([{ count: 0 }]);
});

test("a key that the endpoint does not read changes nothing: all of them are counted", async () => {
  const decoys = [{ code: "1" }, { token: "1" }, { password: "1" }];
  const text = async (n: number, number: string) =>
    (await server.post("/phone-number/send-otp", { phoneNumber: number, ...decoys[n % 3] }, page)).status;
  expect([await text(0, "+49151"), await text(1, "+49151"), await text(2, "+49151")]).toEqual([200, 200, 429]);
  const mail = async (n: number) =>
    (await server.post(`/sign-in/magic-link?otp=${n}`, { email: "dan@example.com", ...decoys[n % 3] }, page)).status;
  expect([await mail(0), await mail(1), await mail(2)]).toEqual([200, 200, 429]);
  expect(sent).toHaveLength(4);
  await db.sql("delete from auth.attempt");
  const knock = async (n: number) =>
    (await server.post(`/otp/knock?code=${n}`, { email: "eve@example.com", ...decoys[n % 3] }, page)).status;
  expect([await knock(0), await knock(1), await knock(2)]).toEqual([200, 200, 429]);
});

test("a sign-in that sends a code to a number before it compares the password counts as a text message", async () => {
  const { user } = (await server.signUp({ ...ann, email: "kim@example.com" })).body;
  await db.sql(`update auth."user" set phone_number = '+4915112345678' where id = $1`, [user.id]);
  const attempt = async () =>
    (await server.post("/sign-in/phone-number", { phoneNumber: "+4915112345678", password: "wrong" }, page)).status;
  expect([await attempt(), await attempt(), await attempt()]).toEqual([401, 401, 429]);
  expect(sent).toHaveLength(2);
  await db.sql(`update auth."user" set phone_number_verified = true where id = $1`, [user.id]);
  expect(await attempt()).toBe(401);
});

test("what a signed-in user sends counts for each recipient alone", async () => {
  const { sessionToken } = (await server.signUp()).body;
  const bearer = { bearer: sessionToken };
  const { body } = await server.post("/organization/create", { name: "Horses", slug: "horses" }, bearer);
  const invite = (email: string) =>
    server.post(
      "/organization/invite-member",
      { email, role: "member", organizationId: body.id, resend: true },
      bearer,
    );
  for (const who of ["a", "b", "c", "d", "e", "f"]) expect((await invite(`${who}@team.test`)).status).toBe(200);
  expect((await invite("f@team.test")).status).toBe(200);
  expect(await invite("f@team.test")).toMatchObject(limited);
  expect((await invite(ann.email)).status).not.toBe(429); // nor does it count for who sends
});

test("codes of the second factor count for the user who is asked for them", async () => {
  const person = await enrolled(server);
  const browser = await asked(server, person);
  const statuses = [];
  for (let n = 0; n < 3; n++) statuses.push((await browser.post("/two-factor/send-otp", {})).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect(sent).toEqual([person.email, person.email]);
});
