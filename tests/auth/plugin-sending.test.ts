// If this file fails, a provider of messages holds up sign-ins, its answers tell who has an account, or its errors put codes into
// the log.
import { emailOTP, magicLink, phoneNumber, twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { besideAnswers } from "../../src/auth/plugins/plugin-senders.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { asked, enrolled } from "./second-factor.ts";

/** What a provider has been given. Each message ends when the test says so. */
let given: { to: string; code: string; finish: (error?: Error) => void }[] = [];
/** What the application's function throws at once. */
let broken: ((code: string) => Error) | undefined;
const send = (to: string, code: string) => {
  if (broken) throw broken(code);
  return new Promise<void>((resolve, reject) => {
    given.push({ to, code, finish: (error) => (error ? reject(error) : resolve()) });
  });
};
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      emailOTP({ sendVerificationOTP: ({ email, otp }) => send(email, otp) }),
      magicLink({ sendMagicLink: ({ email, token, url }) => send(email, `${token} ${url}`) }),
      phoneNumber({
        otpLength: 4,
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
const lines = () => server.log.filter((line) => line.includes("a message of a plugin could not be sent"));

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
    ["/sign-in/magic-link", { email: ann.email }],
  ] as const) {
    expect(await server.post(path, body, page), path).toMatchObject({ status: 200 });
  }
  expect((await browser.post("/two-factor/send-otp", {})).status).toBe(200);
  expect(given.map(({ to }) => to)).toEqual(["+4922", "+4911", ann.email, ann.email, ann.email, person.email]);
  for (const { finish } of given) finish();
});

test("an error of the provider is one line in the log, without the code, the number and the address", async () => {
  await server.post("/phone-number/send-otp", { phoneNumber: "+4915112345678" }, page);
  await server.post("/email-otp/send-verification-otp", { email: "eve@example.com", type: "sign-in" }, page);
  await server.post("/sign-in/magic-link", { email: "eve@example.com" }, page);
  const [text, mail, link] = given;
  const [token = "", url = ""] = link?.code.split(" ") ?? [];
  const own = [..."0123456789"].find((digit) => !text?.code.includes(digit))?.repeat(5); // an error's code, such as 21211
  text?.finish(new TypeError(`${own}: To=+49 151 12345678&Body=${text.code} is refused with 400`));
  mail?.finish(new Error(`eve@example.com: "${mail.code}" bounced`));
  link?.finish(new Error(`422: <${url.replace("token=", "token=\n")}>, (${token.slice(0, 16)}-${token.slice(16)})`));
  await expect.poll(lines).toHaveLength(3);
  expect(lines()[0]).toContain(`TypeError: ${own}: To=`);
  expect(lines()[0]).toContain("refused with 400");
  expect(lines()[2]).toContain("422");
  for (const secret of [`Body=${text?.code}`, mail?.code, "12345678", "eve@", token.slice(0, 8), token.slice(-8)])
    expect(server.log.join("\n")).not.toContain(secret);
});

test("a code is not logged however the message spells it: with a blank, a dash, or beside letters", async () => {
  for (const spell of [
    (code: string) => `${code.slice(0, 2)} ${code.slice(2)}`,
    (code: string) => code.split("").join("-"),
    (code: string) => `code${code}is`,
  ]) {
    await server.post("/phone-number/send-otp", { phoneNumber: "+4944" }, page);
    const { code = "", finish } = given.pop() ?? {};
    const before = lines().length;
    finish?.(new Error(`"${spell(code)}" is spam`));
    await expect.poll(lines).toHaveLength(before + 1);
    expect(lines().at(-1)).toContain("is spam");
    expect(lines().at(-1)).not.toContain(spell(code));
  }
});

test("a function that throws at once is answered and logged as one that fails later", async () => {
  const user = (await server.signUp({ ...ann, email: "throw@example.com" })).body.user;
  await db.sql(`update auth."user" set phone_number = '+4955' where id = $1`, [user.id]);
  const browser = await asked(server, await enrolled(server));
  const before = lines().length;
  const codes: string[] = [];
  broken = (code) => {
    codes.push(...code.split(" "));
    return new Error(`no sender for ${code}`);
  };
  onTestFinished(() => {
    broken = undefined;
  });
  for (const [path, body] of [
    ["/phone-number/send-otp", { phoneNumber: "+4955" }],
    ["/phone-number/request-password-reset", { phoneNumber: "+4955" }],
    ["/email-otp/send-verification-otp", { email: "throw@example.com", type: "forget-password" }],
    ["/sign-in/magic-link", { email: "throw@example.com" }],
  ] as const) {
    expect(await server.post(path, body, page), path).toMatchObject({ status: 200 });
  }
  expect((await browser.post("/two-factor/send-otp", {})).status).toBe(200);
  await expect.poll(lines).toHaveLength(before + 5);
  expect(codes).toHaveLength(6);
  for (const code of codes) expect(lines().slice(before).join("\n")).not.toMatch(new RegExp(`for ${code}|${code}"`));
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

test("a plugin without such a function stays as it is, also one of another maker with the same id", async () => {
  const endpoints = {};
  const plugins = [twoFactor({ otpOptions: { period: 5 } }), { id: "phone-number", endpoints }, { id: "magic-link" }];
  const made = await besideAnswers(plugins, { send: () => {} });
  for (const [at, plugin] of plugins.entries()) expect(made[at]).toBe(plugin);
});
