// If this file fails, somebody who signed up with another person's address gets back into the account after its owner
// has proved the mailbox.
import type { BetterAuthPlugin } from "better-auth";
import { emailOTP, magicLink, phoneNumber } from "better-auth/plugins";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database, waitsForLock } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

let sent = "";
/** Links by mail: by kind and address. */
const links = new Map<string, string>();
const keep = async ({ otp, token }: { otp?: string; token?: string }) => {
  sent = otp ?? token ?? "";
};
const keepLink = (kind: string) => (mail: { email: string; url: string }) => {
  links.set(`${kind} ${mail.email}`, mail.url);
};
const linkOf = async (kind: string): Promise<URL> => {
  await expect.poll(() => links.has(`${kind} ${email}`)).toBe(true);
  return new URL(links.get(`${kind} ${email}`) ?? "");
};

/** The tables of `@better-auth/passkey` and `@better-auth/api-key`, as far as they say whose a row is. */
const holders: BetterAuthPlugin[] = [
  { id: "passkey", schema: { passkey: { fields: { userId: { type: "string", required: true } } } } },
  { id: "api-key", schema: { apikey: { fields: { referenceId: { type: "string", required: true } } } } },
];
const definition = defineAuth({
  emailAndPassword: { sendResetPassword: keepLink("reset") },
  emailVerification: { sendVerificationEmail: keepLink("verification") },
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      ...holders,
      emailOTP({ sendVerificationOTP: keep }),
      magicLink({ sendMagicLink: keep }),
      phoneNumber({ sendOTP: () => {} }),
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

let people = 0;
let email: string;
let id: string;
let sessionToken: string;
beforeEach(async () => {
  await db.sql(`delete from auth."user"; delete from auth.passkey; delete from auth.apikey`);
  email = `ann-${++people}@example.com`;
  const { body } = await server.signUp({ ...ann, email });
  [id, sessionToken] = [body.user.id, body.sessionToken];
  await db.sql(`insert into auth.passkey (id, user_id) values ('1', '${id}'), ('2', 'somebody else')`);
  await db.sql(`insert into auth.apikey (id, reference_id) values ('1', '${id}'), ('2', 'somebody else')`);
  await db.sql(
    `insert into auth.api_key (user_id, name, start, hash, scopes, expires_at)
     values ('${id}', 'x', 'x_', sha256('x'), '{a}', now() + '1 day'::interval)`,
  );
  await db.sql(`insert into auth.account (id, user_id, provider_id, account_id, created_at, updated_at)
                values ('1', '${id}', 'acme', 'x', now(), now())`);
  await db.sql(`update auth."user" set phone_number = '+4911', phone_number_verified = true`);
});

/** What is left of the user's ways in, besides the password. */
const left = async () =>
  (
    await db.sql(`select (select count(*)::int from auth.passkey where user_id = u.id) as passkeys,
                         (select count(*)::int from auth.apikey where reference_id = u.id) as keys,
                         (select count(*)::int from auth.api_key where user_id = u.id) as own_keys,
                         (select count(*)::int from auth.account where user_id = u.id and provider_id = 'acme') as accounts,
                         phone_number, email_verified from auth."user" u`)
  )[0];
const all = { passkeys: 1, keys: 1, own_keys: 1, accounts: 1, phone_number: "+4911" };
const nothing = { passkeys: 0, keys: 0, own_keys: 0, accounts: 0, phone_number: null };

const headers = { origin };
const post = (path: string, body: object) => server.post(path, body, { headers });
const ways: [path: string, prove: () => Promise<{ status: number }>][] = [
  [
    "/reset-password",
    async () => {
      await post("/request-password-reset", { email, redirectTo: "/" });
      const token = (await linkOf("reset")).searchParams.get("token");
      return post("/reset-password", { token, newPassword: "another horse" });
    },
  ],
  [
    "/email-otp/reset-password",
    async () => {
      await post("/email-otp/request-password-reset", { email });
      return post("/email-otp/reset-password", { email, otp: sent, password: "another horse" });
    },
  ],
  [
    "/sign-in/email-otp",
    async () => {
      await post("/email-otp/send-verification-otp", { email, type: "sign-in" });
      return post("/sign-in/email-otp", { email, otp: sent });
    },
  ],
  [
    "/magic-link/verify",
    async () => {
      await post("/sign-in/magic-link", { email });
      return fetch(`${server.url}/api/auth/magic-link/verify?token=${sent}`, { headers, redirect: "manual" });
    },
  ],
];

describe.for(ways)("who proves the mailbox at %s", ([, prove]) => {
  test("has the account without the ways in of who signed up with the address", async () => {
    expect((await prove()).status).toBe(200);
    expect(await left()).toEqual({ ...nothing, email_verified: true });
    expect(await server.caller(sessionToken)).toBeNull();
    expect(await db.sql("select id from auth.passkey union all select id from auth.apikey")).toEqual([
      { id: "2" },
      { id: "2" },
    ]);
  });

  test("keeps them, once the address is verified", async () => {
    await db.sql(`update auth."user" set email_verified = true`);
    expect((await prove()).status).toBe(200);
    expect(await left()).toEqual({ ...all, email_verified: true });
  });
});

test.for(ways.slice(1))("while the address changes, %s proves neither address", async ([, prove]) => {
  const changing = await db.connect("admin");
  await changing.query(`begin; update auth."user" set email = 'new@example.com'`);
  const answer = prove();
  await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  await changing.query("commit");
  await answer;
  expect(await left()).toMatchObject({ passkeys: 1, own_keys: 1, email_verified: false });
});

test("a user who is signed in and confirms the address keeps everything", async () => {
  const { pathname, search } = await linkOf("verification"); // of the sign-up
  await fetch(server.url + pathname + search, { redirect: "manual" });
  expect(await left()).toEqual({ ...all, email_verified: true });
  expect(await server.caller(sessionToken)).not.toBeNull();
});

test("a deleted user leaves no API key, and others keep theirs", async () => {
  const answer = await server.post("/delete-user", { password: ann.password }, { bearer: sessionToken });
  expect(answer.status).toBe(200);
  expect(await db.sql("select id from auth.apikey")).toEqual([{ id: "2" }]);
});
