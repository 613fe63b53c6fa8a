// If this file fails, naming several accounts allows more guesses of an account's passwords or codes than the limits
// do.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { totp, wrong } from "../support/totp.ts";
import { compared, definition, sent } from "./many-plugins.ts";
import { asked, type Browser, enrolled } from "./second-factor.ts";

const limit = 3;
const tries = 10;
const db = database();
let server: AuthServer;
let victim: Awaited<ReturnType<typeof enrolled>>;
let plain: { email: string; password: string; sessionToken: string };
/** Tokens of ended sessions, and of other users' sessions. */
let dead: string;
let foreign: string[];

const identify = (email: string, name: string, phone: string) =>
  db.sql(`update auth."user" set username = $2, phone_number = $3, phone_number_verified = true where email = $1`, [
    email,
    name,
    phone,
  ]);
const signUp = async (email: string) =>
  (await server.signUp({ email, password: "correct horse", name: "Ann" })).body.sessionToken as string;

beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition, limits: { signInsPerAccount: limit } });
  victim = await enrolled(server);
  await identify(victim.email, "victim", "+4911");
  const email = "plain@example.com";
  plain = { email, password: "correct horse", sessionToken: await signUp(email) };
  await identify(email, "plain", "+4922");
  dead = await signUp("dead@example.com");
  await server.post("/sign-out", {}, { bearer: dead });
  foreign = await Promise.all(Array.from({ length: tries }, (_, n) => signUp(`foreign-${n}@example.com`)));
});
afterAll(() => server.close());

const cookieOf = (token: string) => `__Secure-authlib.session_token=${encodeURIComponent(token)}`;
interface With {
  bearer?: string;
  cookie?: string;
}
/** Credentials for the n-th attempt that do not tell whose password or code it is. */
const credentials: [what: string, of: (n: number) => With][] = [
  ["no session", () => ({})],
  ["a dead session's token", () => ({ bearer: dead })],
  ["a dead session's cookie", () => ({ cookie: cookieOf(dead) })],
  ["tokens of other people's sessions", (n) => ({ bearer: foreign[n] ?? "" })],
  ["cookies of other people's sessions", (n) => ({ cookie: cookieOf(foreign[n] ?? "") })],
];
/** Names that the endpoint ignores. */
const decoys: [what: string, of: (n: number) => Record<string, string>][] = [
  ["no other name", () => ({})],
  ["an address, another each time", (n) => ({ email: `nobody-${n}@example.com` })],
  ["somebody else's address each time", (n) => ({ email: `foreign-${n}@example.com` })],
  ["a user name, another each time", (n) => ({ username: `nobody_${n}` })],
  ["a phone number, another each time", (n) => ({ phoneNumber: `+49330${n}` })],
  ["a user's id, another each time", (n) => ({ userId: `nobody-${n}` })],
];
const cases = credentials.flatMap(([session, along]) =>
  decoys.map(([name, more]) => ({ what: `${session} and ${name}`, along, more })),
);

/** Each kind of session with some of the names. All pairs would take minutes where each needs ten challenges. */
const someCases = (names: number) =>
  cases.filter((_, n) => (n + Math.floor(n / decoys.length)) % decoys.length < names);

const post = (path: string, body: object, { bearer, cookie }: With) =>
  server.post(path, body, {
    ...(bearer && { bearer }),
    headers: { origin, ...(cookie && { cookie }) },
  });

/** Sends all attempts at once. @returns how many were not refused by a limit */
async function attempted(attempt: (n: number) => Promise<Answer>): Promise<number> {
  await db.sql("delete from auth.attempt");
  compared.length = 0;
  const answers = await Promise.all(Array.from({ length: tries }, (_, n) => attempt(n)));
  expect(answers.filter(({ status }) => status < 400)).toEqual([]);
  return answers.filter(({ status }) => status !== 429).length;
}

const spelled = (text: string, n: number) =>
  [...text].map((one, at) => (n & (1 << at) ? one.toUpperCase() : one)).join("");

describe("passwords", () => {
  const guess = (n: number) => `wrong ${n}`;
  test.for([
    ["/sign-in", (n: number) => ({ email: spelled("plain@example.com", n), password: guess(n) })],
    ["/sign-in/email", (n: number) => ({ email: spelled("plain@example.com", n), password: guess(n) })],
    ["/sign-in/username", (n: number) => ({ username: spelled("plain", n), password: guess(n) })],
    ["/sign-in/phone-number", (n: number) => ({ phoneNumber: "+4922", password: guess(n) })],
    ["/own/sign-in", (n: number) => ({ login: "plain@example.com", word: guess(n), password: "x" })],
    ["/own/sign-in", (n: number) => ({ login: "plain@example.com", word: guess(n) })],
  ] as const)("at %s are compared as often as the limit says", async ([path, body]) => {
    for (const { what, along, more } of cases) {
      await attempted((n) => post(path, { ...more(n), ...body(n) }, along(n)));
      expect(compared.length, `${what}: ${compared}`).toBe(limit);
    }
  });

  test.for([
    ["/change-password", (n: number) => ({ currentPassword: guess(n), newPassword: "another horse" })],
    ["/delete-user", (n: number) => ({ password: guess(n) })],
    ["/two-factor/enable", (n: number) => ({ password: guess(n) })],
    ["/two-factor/disable", (n: number) => ({ password: guess(n) })],
    ["/two-factor/get-totp-uri", (n: number) => ({ password: guess(n) })],
    ["/two-factor/generate-backup-codes", (n: number) => ({ password: guess(n) })],
  ] as const)("of the session's user at %s are compared as often as the limit says", async ([path, body]) => {
    const cookie = victim.browser.cookie;
    const bearer = decodeURIComponent(victim.browser.jar.get("__Secure-authlib.session_token") ?? "");
    for (const [what, more] of decoys) {
      for (const along of [{ bearer }, { cookie }]) {
        await attempted((n) => post(path, { ...more(n), ...body(n) }, along));
        expect(compared.length, what).toBe(limit);
      }
    }
  });

  test("are one count of an account, through whatever doors they come", async () => {
    const bodies = [
      ["/sign-in", { email: plain.email }],
      ["/sign-in/username", { username: "plain" }],
      ["/sign-in/phone-number", { phoneNumber: "+4922" }],
    ] as const;
    await attempted((n) => {
      const [path, names] = bodies[n % bodies.length] ?? bodies[0];
      return post(path, { ...names, password: guess(n) }, {});
    });
    expect(compared).toHaveLength(limit);
  });
});

describe("codes of a second factor", () => {
  let browsers: Browser[];
  const challenge = async () => {
    await db.sql("delete from auth.attempt");
    browsers = [];
    // Sequentially: of concurrent attempts only as many pass as may be wrong.
    for (let n = 0; n < tries; n++) browsers.push(await asked(server, victim));
  };
  test.for(["totp", "otp", "backup-code"])("at verify-%s are compared as often as the limit says", async (method) => {
    const code = method === "backup-code" ? "aaaaa-bbbbb" : wrong(totp(victim.totpURI));
    for (const { what, along, more } of someCases(2)) {
      await challenge();
      if (method === "otp") for (const { cookie } of browsers) await post("/two-factor/send-otp", {}, { cookie });
      const guess = sent.at(-1) === code ? wrong(code) : code;
      const count = await attempted((n) => {
        const { bearer, cookie: session } = along(n);
        const cookie = [session, browsers[n]?.cookie].filter(Boolean).join("; ");
        return post(`/two-factor/verify-${method}`, { ...more(n), code: guess }, { ...(bearer && { bearer }), cookie });
      });
      // With another user's session it is compared with nothing, but it counts.
      expect(count, what).toBe(limit);
    }
  });

  test("are counted however the cookie of the challenge is written", async () => {
    const spellings: ((cookie: string) => string)[] = [
      (cookie) => `${cookie}; __Secure-authlib.two_factor=x`,
      (cookie) => `__Secure-authlib.two_factor=x; ${cookie}`,
      (cookie) => cookie.replace("=", '="').concat('"'),
      (cookie) => cookie.replace("=2fa-", "=2fa%2D"),
      (cookie) => cookie.replace("=2fa-", "=2fa%2d"),
      (cookie) => cookie.replace("=", " ="),
      (cookie) => cookie.replace("=", "= "),
      (cookie) => `\t${cookie}`,
      (cookie) => `${cookie}\t`,
    ];
    const code = wrong(totp(victim.totpURI));
    for (const [at, spell] of spellings.entries()) {
      await challenge();
      await db.sql("delete from auth.attempt");
      const answers = await Promise.all(
        browsers.map(({ cookie }) => post("/two-factor/verify-totp", { code }, { cookie: spell(cookie) })),
      );
      const compared = answers.filter((answer) => answer.status === 401 && answer.body.hint === "INVALID_CODE");
      expect(compared.length, `${at}`).toBeLessThanOrEqual(limit);
      expect(answers.filter(({ status }) => status < 400)).toEqual([]);
    }
  });

  test("with the session of their own user are counted, too", async () => {
    const { cookie } = victim.browser;
    const code = wrong(totp(victim.totpURI));
    expect(await attempted(() => post("/two-factor/verify-totp", { code }, { cookie }))).toBe(limit);
  });
});

describe("codes by mail and telephone", () => {
  test.for([
    ["/sign-in/email-otp", "/email-otp/send-verification-otp", { email: "plain@example.com" }, { type: "sign-in" }],
    [
      "/email-otp/check-verification-otp",
      "/email-otp/send-verification-otp",
      { email: "plain@example.com" },
      { type: "sign-in" },
    ],
    [
      "/email-otp/verify-email",
      "/email-otp/send-verification-otp",
      { email: "plain@example.com" },
      { type: "email-verification" },
    ],
    ["/phone-number/verify", "/phone-number/send-otp", { phoneNumber: "+4922" }, {}],
  ] as const)("at %s are compared as often as the limit says", async ([path, sending, name, more]) => {
    for (const { what, along, more: decoy } of someCases(1)) {
      await post(sending, { ...name, ...more }, {});
      const code = wrong(sent.at(-1) ?? "0");
      const body = (n: number) => ({ ...decoy(n), ...name, ...more, otp: code, code });
      expect(await attempted((n) => post(path, body(n), along(n))), what).toBe(limit);
    }
  });
});
