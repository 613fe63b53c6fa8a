// If this file fails, a trigger of the application on a table of auth refuses with an error that nobody understands.
import { emailOTP } from "better-auth/plugins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
let server: AuthServer;
let verifying: AuthServer;
let sent = "";

const sendVerificationOTP = async ({ otp }: { otp: string }) => {
  sent = otp;
};
const plugins = [emailOTP({ sendVerificationOTP })];
const betterAuth = (defaults: object) => ({ ...defaults, plugins, rateLimit: { enabled: false } });
beforeAll(async () => {
  server = await startAuthServer(db, { definition: defineAuth({ betterAuth }) });
  const emailVerification = { required: true, sendVerificationEmail: async () => {} };
  verifying = await startAuthServer(db, { definition: defineAuth({ betterAuth, emailVerification }) });
  await server.signUp();
  await db.sql(`
    create function public.refuse_strangers() returns trigger language plpgsql set search_path = '' as $$
    begin
      if new.email like '%@elsewhere.com' then
        raise exception 'Ask your administrator for an invitation.' using errcode = 'AP403', hint = 'Write to it@example.com.';
      end if;
      return new;
    end $$;
    create trigger refuse_strangers before insert on auth."user" for each row execute function public.refuse_strangers();
    create function public.refuse_sessions() returns trigger language plpgsql set search_path = '' as $$
    begin
      raise exception 'The service is closed until Monday.' using errcode = 'AP409';
    end $$;
    create trigger refuse_sessions before insert on auth.session for each row execute function public.refuse_sessions();
    alter table auth.session disable trigger refuse_sessions`);
});
afterAll(() => Promise.all([server.close(), verifying.close()]));

const said = { error: "Ask your administrator for an invitation.", code: "FORBIDDEN" };
const stranger = { ...ann, email: "eve@elsewhere.com" };
const people = () => db.sql(`select from auth."user" where email like '%@elsewhere.com'`);

test("a sign-up that a trigger refuses says why, and makes no user", async () => {
  const body = { ...said, hint: "Write to it@example.com." };
  expect(await server.signUp(stranger)).toMatchObject({ status: 403, body });
  expect(await people()).toEqual([]);
  expect(server.log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

test("so does one by a plugin", async () => {
  await server.post("/email-otp/send-verification-otp", { email: stranger.email, type: "sign-in" });
  expect(await server.post("/sign-in/email-otp", { email: stranger.email, otp: sent })).toMatchObject({
    status: 403,
    body: said,
  });
  expect(await people()).toEqual([]);
});

test("where addresses must be verified a sign-up is refused too", async () => {
  expect(await verifying.signUp(stranger)).toMatchObject({ status: 403 });
  expect(await people()).toEqual([]);
});

test("a sign-in that a trigger refuses says why", async () => {
  await db.sql("alter table auth.session enable trigger refuse_sessions");
  expect(await server.post("/sign-in", ann)).toMatchObject({
    status: 409,
    body: { error: "The service is closed until Monday.", code: "CONFLICT" },
  });
  await db.sql("alter table auth.session disable trigger refuse_sessions");
  expect((await server.post("/sign-in", ann)).status).toBe(200);
});
