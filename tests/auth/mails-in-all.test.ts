// If this file fails, strangers with many networks make the service send text messages or mails without end, at its cost.
import { magicLink, organization, phoneNumber } from "better-auth/plugins";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

const sent: string[] = [];
let lastCode = "";
const note = (to: string) => void sent.push(to);
const definition = defineAuth({
  emailAndPassword: { sendResetPassword: ({ email }) => note(email) },
  emailVerification: { sendVerificationEmail: ({ email }) => note(email) },
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      magicLink({ sendMagicLink: ({ email }) => note(email) }),
      organization({ sendInvitationEmail: async ({ email }) => note(email) }),
      phoneNumber({
        sendOTP({ phoneNumber: number, code }) {
          lastCode = code;
          note(number);
        },
        signUpOnVerification: { getTempEmail: (number) => `${number}@phone.invalid` },
      }),
    ],
  }),
});
const db = database();
const servers: AuthServer[] = [];
let at = 0;
beforeAll(async () => {
  await migrateAuth(db, definition);
  const limits = { mails: 4, texts: 3 };
  for (const _ of [1, 2]) servers.push(await startAuthServer(db, { definition, limits, trustProxy: 1 }));
});
afterAll(() => Promise.all(servers.map((server) => server.close())));
beforeEach(async () => {
  await db.sql("delete from auth.attempt");
  sent.length = 0;
});

/** Each request from another network, to the next process. */
function ask(path: string, body: object, bearer?: string, network = `198.51.100.${++at}`) {
  const headers = { origin, "x-forwarded-for": network };
  const server = servers[at % servers.length] as AuthServer;
  return server.post(path, body, { headers, ...(bearer !== undefined && { bearer }) });
}
const text = (number: number) => ask("/phone-number/send-otp", { phoneNumber: `+88213${number}` });
const refusedFor = (what: string) => ({
  status: 429,
  body: { code: "RATE_LIMITED", error: `The service sends no more ${what} for now. Try again later.` },
});
const told = () => servers.flatMap(({ log }) => log).filter((line) => line.includes("limit of all callers together"));

test("text messages to all telephones, from all networks and in all processes, are limited; one line of each process says so", async () => {
  for (let n = 0; n < 3; n++) expect((await text(n)).status).toBe(200);
  for (let n = 3; n < 9; n++) {
    const answer = await text(n);
    expect(answer).toMatchObject(refusedFor("text messages"));
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(3_000);
  }
  expect(sent).toHaveLength(3);
  expect(told()).toHaveLength(2);
  expect(told()[0]).toContain('"limit":"limits.texts","most":3');
  expect((await ask("/sign-in/magic-link", { email: "a@example.com" })).status).toBe(200);
  await db.sql("update auth.attempt set ends_at = now(), kept_until = now()");
  expect((await text(1)).status).toBe(200);
});

test("a telephone or a network beyond its own limit takes nothing from the others", async () => {
  const server = await startAuthServer(db, { definition, limits: { mailsPerAccount: 1, texts: 3 } });
  const again = (phoneNumber: string) =>
    server.post("/phone-number/send-otp", { phoneNumber }, { headers: { origin } });
  const statuses = [];
  for (const number of ["+881", "+881", "+881", "+882", "+883", "+884"]) statuses.push((await again(number)).status);
  await server.close();
  expect(statuses).toEqual([200, 429, 429, 200, 200, 429]);
});

test("so are all mails: links, resets, those of a sign-up and those of a signed-in user", async () => {
  const { sessionToken } = (await ask("/sign-up", ann)).body;
  expect((await ask("/sign-in/magic-link", { email: "b@example.com" })).status).toBe(200);
  expect((await ask("/request-password-reset", { email: "nobody@example.com", redirectTo: "/" })).status).toBe(200);
  const { body } = await ask("/organization/create", { name: "Horses", slug: "horses" }, sessionToken);
  const invite = (email: string) =>
    ask("/organization/invite-member", { email, role: "member", organizationId: body.id }, sessionToken);
  expect((await invite("c@example.com")).status).toBe(200);
  expect(await invite("d@example.com")).toMatchObject(refusedFor("mails"));
  expect(await ask("/request-password-reset", { email: ann.email, redirectTo: "/" })).toMatchObject(
    refusedFor("mails"),
  );
  // A sign-up succeeds, without its mail.
  expect((await ask("/sign-up", { ...ann, email: "eve@example.com" })).status).toBe(200);
  expect((await text(1)).status).toBe(200);
  await expect.poll(() => sent).toHaveLength(4);
  expect([...sent].sort()).toEqual(["+882131", ann.email, "b@example.com", "c@example.com"].sort());
});

test("strangers use up nothing of accounts on networks where these have signed in, which have one limit together", async () => {
  const home = "203.0.113.7";
  const number = "+8819";
  const code = (phoneNumber: string, network?: string) =>
    ask("/phone-number/send-otp", { phoneNumber }, undefined, network);
  expect((await code(number, home)).status).toBe(200);
  const verified = await ask("/phone-number/verify", { phoneNumber: number, code: lastCode }, undefined, home);
  expect(verified.status).toBe(200);
  const reset = (email: string, network?: string) =>
    ask("/request-password-reset", { email, redirectTo: "/" }, undefined, network);
  expect((await ask("/sign-up", { ...ann, email: "ivy@example.com" }, undefined, home)).status).toBe(200);
  await ask("/sign-in", { ...ann, email: "ivy@example.com" }, undefined, home);

  for (let n = 0; n < 9; n++) await Promise.all([text(n), reset(`${n}@example.com`)]);
  for (const stranger of [() => text(9), () => code(number), () => code("+8818", home), () => reset("ivy@example.com")])
    expect((await stranger()).status).toBe(429);
  for (const status of [200, 200, 200, 429]) expect((await code(number, home)).status).toBe(status);
  expect((await reset("ivy@example.com", home)).status).toBe(200);
  await db.sql("update auth.attempt set count = 4 where (kind, subject) = ('mails', 'known')");
  expect((await reset("ivy@example.com", home)).status).toBe(429);
});
