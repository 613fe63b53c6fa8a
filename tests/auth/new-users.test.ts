// If this file fails, one address makes users without end through a door that is no sign-up: a plugin, a social sign-in.
import { runWithTransaction } from "@better-auth/core/context";
import { createAuthEndpoint } from "better-auth/api";
import { anonymous, emailOTP, magicLink, phoneNumber } from "better-auth/plugins";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { Browser, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

let sent = "";
const keep = async ({ code, otp, token }: { code?: string; otp?: string; token?: string }) => {
  sent = code ?? otp ?? token ?? "";
};
const row = (email: string) => ({
  email,
  name: "Kim",
  emailVerified: false,
  createdAt: new Date(),
  updatedAt: new Date(),
});
/** Makes users as plugins of others may: past the library's own functions, and in a transaction. */
const own = {
  id: "own",
  endpoints: {
    plain: createAuthEndpoint("/own/plain", { method: "POST" }, async ({ body, context, json }) =>
      json(await context.adapter.create({ model: "user", data: row((body as { name: string }).name) })),
    ),
    within: createAuthEndpoint("/own/within", { method: "POST" }, async ({ body, context, json }) =>
      json(
        await runWithTransaction(context.adapter, async () => {
          const user = await context.internalAdapter.createUser(row((body as { name: string }).name), {
            method: "own",
          });
          await context.internalAdapter.createAccount({ userId: user.id, providerId: "own", accountId: user.id });
          return user;
        }),
      ),
    ),
  },
};
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      anonymous(),
      emailOTP({ sendVerificationOTP: keep }),
      magicLink({ sendMagicLink: keep }),
      phoneNumber({
        sendOTP: keep,
        signUpOnVerification: { getTempEmail: (phone) => `${phone.slice(1)}@example.com`, getTempName: () => "Kim" },
      }),
      own,
    ],
  }),
});

const db = database();
let provider: ScriptedProvider;
beforeAll(async () => {
  await migrateAuth(db, definition);
  provider = await startScriptedProvider();
});
afterAll(() => provider.close());

let server: AuthServer;
const start = async (most: number | false, max = 5) => {
  server = await startAuthServer(db, {
    definition,
    trustProxy: 1,
    limits: { signUpsPerAddress: most },
    google: provider.settings,
    max,
  });
};
beforeEach(() => db.sql('delete from auth."user"; delete from auth.attempt'));
afterEach(() => server.close());

const at = (address: string) => ({ headers: { "x-forwarded-for": address, origin } });
const home = at("192.0.2.1");
const users = async () => (await db.sql('select 1 from auth."user"')).length;
let people = 0;
const someone = () => `kim-${++people}@example.com`;
const plugin = (path: string) => async (from: typeof home) =>
  (await server.post(path, { name: someone() }, from)).status;

const doors: Record<string, (from: typeof home) => Promise<number>> = {
  "a sign-up": async (from) => (await server.post("/sign-up", { ...ann, email: someone() }, from)).status,
  "a guest": async (from) => (await server.post("/sign-in/anonymous", {}, from)).status,
  "a code by mail": async (from) => {
    const email = someone();
    await server.post("/email-otp/send-verification-otp", { email, type: "sign-in" }, from);
    return (await server.post("/sign-in/email-otp", { email, otp: sent }, from)).status;
  },
  "a link by mail": async (from) => {
    await server.post("/sign-in/magic-link", { email: someone() }, from);
    const url = `${server.url}/api/auth/magic-link/verify?token=${sent}`;
    const answer = await fetch(url, { ...from, redirect: "manual" });
    // A link is opened by a person: the plugin leads to the page, and the page gets the word.
    const word = new URL(answer.headers.get("location") ?? origin).searchParams.get("error");
    return word === "RATE_LIMITED" ? 429 : answer.status;
  },
  "a telephone": async (from) => {
    const number = `+49${1000 + ++people}`;
    await server.post("/phone-number/send-otp", { phoneNumber: number }, from);
    return (await server.post("/phone-number/verify", { phoneNumber: number, code: sent }, from)).status;
  },
  "a plugin of the application": plugin("/own/plain"),
  "one that writes in a transaction": plugin("/own/within"),
};

describe("a network that has made as many users as it may", () => {
  test.for(Object.keys(doors))("makes no other by %s, and is told as at a sign-up", async (name) => {
    await start(2);
    const door = doors[name] as (typeof doors)[string];
    const signUp = doors["a sign-up"] as (typeof doors)[string];
    expect([await door(home), await signUp(home)]).toEqual([200, 200]);
    expect([await door(home), await signUp(home), await users()]).toEqual([429, 429, 2]);
    expect([await door(at("198.51.100.1")), await users()]).toEqual([200, 3]);
  });

  test("is told when to come back, by every endpoint", async () => {
    await start(1);
    await doors["a guest"]?.(home);
    for (const path of ["/sign-up", "/sign-in/anonymous", "/own/within"]) {
      const { status, body, headers } = await server.post(path, { ...ann, email: someone(), name: someone() }, home);
      expect({ status, ...body, requestId: "" }).toEqual({
        status: 429,
        code: "RATE_LIMITED",
        error: "Too many attempts. Try again later.",
        requestId: "",
      });
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(3000);
    }
  });

  test("makes none by Google, and who comes back still signs in", async () => {
    await start(1);
    const signIn = async (sub: string) => {
      const claims = { sub, email: `${sub}@example.com`, email_verified: true, name: "Kim" };
      return results(await new Browser(server).signIn(provider, { claims }));
    };
    const [first, other, again] = [await signIn("one"), await signIn("two"), await signIn("one")];
    expect([first.code, again.code]).toEqual([expect.any(String), expect.any(String)]);
    expect([other, await users()]).toEqual([{ error: "rate_limited" }, 1]);
  });

  test("is not counted for users that could not be made", async () => {
    await start(2);
    const email = someone();
    const make = async () => (await server.post("/own/within", { name: email }, home)).status;
    expect([await make(), await make(), await make()]).toEqual([200, 409, 409]);
    expect(await doors["a guest"]?.(home)).toBe(200);
  });
});

test("many at once, each in a transaction, do not wait for each other's connections", async () => {
  await start(8, 2);
  const made = await Promise.all(Array.from({ length: 12 }, () => plugin("/own/within")(home)));
  expect(made.sort()).toEqual([...Array(8).fill(200), ...Array(4).fill(429)]);
  expect(await users()).toBe(8);
});

test("trusted code makes as many users as it likes, and so does everybody without the limit", async () => {
  await start(1);
  for (let each = 0; each < 3; each++)
    await (await server.auth.signIn()).users.create({ email: someone(), name: "Kim" });
  await server.close();
  await start(false);
  for (let each = 0; each < 3; each++) expect(await doors["a guest"]?.(home)).toBe(200);
  expect([await users(), await db.sql("select 1 from auth.attempt where kind = 'signUpsPerAddress'")]).toEqual([6, []]);
});
