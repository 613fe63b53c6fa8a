// If this file fails, an address counts as verified without its mail, or the mail's owner cannot verify it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/index.ts";
import { type AuthServer, type AuthServerOptions, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database, waitsForLock } from "../support/database.ts";
import { Mailbox, tokenOf, visit } from "../support/mailbox.ts";

const db = database();
const front = "https://front.test";
const started: AuthServer[] = [];
const mailbox = new Mailbox();
let server: AuthServer;

async function start(options: AuthServerOptions = {}): Promise<AuthServer> {
  const { definition = mailbox.definition } = options;
  const one = await startAuthServer(db, { frontendOrigins: [front], ...options, definition });
  started.push(one);
  return one;
}
beforeAll(async () => {
  server = await start();
});
afterAll(() => Promise.all(started.map((one) => one.close())));
beforeEach(() => db.sql('delete from auth."user"; delete from auth.attempt; delete from auth.verification'));

const isVerified = async () =>
  (await db.sql('select email_verified as is from auth."user" where email = $1', [ann.email]))[0]?.is;
const mail = () => mailbox.next("verification", ann.email);
const landed = async (link: string, at = server) => (await visit(at, link)).location;

describe("a sign-up", () => {
  test.for(["/sign-up", "/sign-up/email"])("at %s sends a link that proves the address, once", async (path) => {
    await server.post(path, ann, { headers: { origin } });
    const { url } = await mail();
    expect(url).toMatch(/^https:\/\/app\.test\/api\/auth\/verify-email\?token=[\w-]{43}&callbackURL=/);
    expect(await isVerified()).toBe(false);
    const first = await visit(server, url);
    expect(first).toMatchObject({ status: 302, location: `${origin}/?verified=true` });
    expect(first.response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(first.response.headers.get("cache-control")).toBe("no-store");
    expect(await isVerified()).toBe(true);
    expect(await visit(server, url)).toMatchObject({ status: 302, location: `${origin}/?error=invalid_token` });
    expect(await isVerified()).toBe(true);
  });

  test("on a page of a listed origin sends a link that leads back there, on another one it does not", async () => {
    for (const [from = "", leads] of [
      [front, `${front}/`],
      ["https://evil.test", "/"],
    ]) {
      await db.sql('delete from auth."user"');
      await server.post("/sign-up", ann, { headers: { origin: from } });
      expect(new URL((await mail()).url).searchParams.get("callbackURL")).toBe(leads);
    }
  });

  test("succeeds whatever the mailer does, and its log says neither address nor link", async () => {
    const failures: ((mail: { email: string; url: string }) => Promise<void>)[] = [
      async ({ email, url }) => {
        throw new TypeError(`550 no mailbox <${email}>, said mail.test; text: ${url} ${tokenOf({ url })}`);
      },
      ({ email }) => {
        throw { code: "EAUTH", message: email };
      },
      () => Promise.reject(undefined),
    ];
    for (const sendVerificationEmail of failures) {
      await db.sql('delete from auth."user"');
      const broken = await startAuthServer(db, { definition: { emailVerification: { sendVerificationEmail } } });
      expect((await broken.signUp()).status).toBe(200);
      await broken.close(); // sends what waits
      expect(broken.log.filter((line) => line.includes("a mail could not be sent"))).toHaveLength(1);
      expect(broken.log.join("")).not.toMatch(/ann@|example\.com|verify-email\?|token=/);
      expect(broken.log.join("")).not.toMatch(/(?<![\w-])[\w-]{43}(?![\w-])/);
    }
  });

  test("of an application without a mailer sends nothing", async () => {
    const silent = await startAuthServer(db, { definition: {} });
    expect((await silent.signUp()).status).toBe(200);
    await silent.close();
    expect(await db.snapshot("auth.verification")).toEqual([]);
  });
});

describe("a mail on request", () => {
  const ask = (bearer: string, body?: unknown) => server.post("/send-verification-email", body, { bearer });

  test("comes for a credential, leads where it is asked to, and stops when the address is proved", async () => {
    const { sessionToken } = (await server.signUp()).body;
    await mail();
    expect(await ask(sessionToken, { callbackURL: `${front}/welcome?a=1` })).toMatchObject({ status: 200 });
    expect(await landed((await mail()).url)).toBe(`${front}/welcome?a=1&verified=true`);
    const before = await db.snapshot("auth.attempt");
    expect(await ask(sessionToken)).toMatchObject({ status: 200, body: { success: true } });
    expect(await db.snapshot("auth.attempt")).toEqual(before);
  });

  test("is refused to strangers, to pages that are not listed, and for destinations that are not", async () => {
    const { sessionToken } = (await server.signUp()).body;
    await mail();
    expect((await server.post("/send-verification-email")).status).toBe(401);
    const cookie = `__Secure-authlib.session_token=${encodeURIComponent(sessionToken)}`;
    const foreign = { cookie, origin: "https://x.test" };
    expect((await server.post("/send-verification-email", {}, { headers: foreign })).status).toBe(403);
    expect((await ask(sessionToken, { callbackURL: "https://evil.test/" })).body.code).toBe("BAD_REQUEST");
    expect((await ask(sessionToken, { callbackURL: 7 })).body.code).toBe("VALIDATION_FAILED");
    const before = mailbox.mails.length;
    expect((await ask(sessionToken)).status).toBe(200);
    await mail();
    expect(mailbox.mails).toHaveLength(before + 1);
  });
});

describe("a link", () => {
  const signedUp = async () => {
    await server.signUp();
    return new URL((await mail()).url);
  };

  test("whose destination was changed leads nowhere, and its token is left alone", async () => {
    const url = await signedUp();
    for (const callbackURL of ["https://evil.test/", "//evil.test", "javascript:alert(1)", "", "/\\evil.test"]) {
      const changed = new URL(url);
      changed.searchParams.set("callbackURL", callbackURL);
      const { status, location, text } = await visit(server, changed.href);
      const { code } = JSON.parse(text);
      expect({ status, location, code }).toEqual({ status: 400, location: null, code: "BAD_REQUEST" });
    }
    expect((await visit(server, `${url.href}&callbackURL=https://evil.test`)).status).toBe(400);
    expect((await visit(server, `${url.href}&token=x`)).status).toBe(400);
    expect(await landed(url.href)).toBe(`${origin}/?verified=true`);
  });

  test("says one thing at its end, whatever its destination said before", async () => {
    const url = await signedUp();
    url.searchParams.set("callbackURL", `${front}/?error=old&verified=false&a=b`);
    expect(await landed(url.href)).toBe(`${front}/?verified=true&a=b`);
    expect(await landed(url.href)).toBe(`${front}/?error=invalid_token&a=b`);
  });

  test("is looked at by scanners without being used up", async () => {
    const url = await signedUp();
    expect(await visit(server, url.href, "HEAD")).toMatchObject({ status: 302, location: `${origin}/` });
    expect(await isVerified()).toBe(false);
    expect(await landed(url.href)).toBe(`${origin}/?verified=true`);
  });

  test.for([
    ["a day later", "update auth.verification set expires_at = now()"],
    ["after the address changed", `update auth."user" set email = 'new@example.com'`],
    ["after the user is gone", 'delete from auth."user"'],
  ])("is nothing %s", async ([, statement]) => {
    const url = await signedUp();
    const [kept] = await db.sql(
      "select round(extract(epoch from expires_at - created_at) / 3600) as hours from auth.verification",
    );
    expect(Number(kept?.hours)).toBe(24);
    await db.sql(statement ?? "");
    expect(await landed(url.href)).toBe(`${origin}/?error=invalid_token`);
    expect(await db.sql('select * from auth."user" where email_verified')).toEqual([]);
  });

  test("opened while the address changes proves neither address", async () => {
    const url = await signedUp();
    const changing = await db.connect("admin");
    await changing.query(`begin; update auth."user" set email = 'new@example.com', email_verified = false`);
    const end = landed(url.href);
    await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
    await changing.query("commit");
    expect(await end).toBe(`${origin}/?error=invalid_token`);
    expect(await db.sql('select email, email_verified from auth."user"')).toEqual([
      { email: "new@example.com", email_verified: false },
    ]);
  });

  test("for a reset proves no address, and neither do other texts", async () => {
    await signedUp();
    await server.post("/request-password-reset", { email: ann.email, redirectTo: "/reset" });
    const tokens = [tokenOf(await mailbox.next("reset", ann.email)), "", "x", "a".repeat(43), "%00", "' or 1=1"];
    for (const token of tokens) {
      expect(await landed(`${origin}/api/auth/verify-email?token=${token}`)).toBe(`${origin}/?error=invalid_token`);
    }
    expect(await landed(`${origin}/api/auth/verify-email`)).toBe(`${origin}/?error=invalid_token`);
    expect(await isVerified()).toBe(false);
  });

  // `npm run chaos` takes five hundred.
  const many = process.env.CHAOS_ROUNDS ? 500 : 25;
  test(`opened twenty times at the same moment works once, for each of ${many}`, { timeout: 240_000 }, async () => {
    const { user } = (await server.signUp()).body;
    await mail();
    for (let n = 0; n < many; n++) {
      const token = await server.auth.once.add("verify-email", { userId: user.id, email: ann.email }, 60);
      const link = `${origin}/api/auth/verify-email?token=${token}`;
      const ends = await Promise.all(Array.from({ length: 20 }, () => landed(link)));
      expect(ends.filter((end) => end === `${origin}/?verified=true`)).toHaveLength(1);
      expect(ends.filter((end) => end === `${origin}/?error=invalid_token`)).toHaveLength(19);
    }
  });
});

describe("emailVerification.required", () => {
  let strict: AuthServer;
  const required = {
    ...mailbox.definition,
    emailVerification: { ...mailbox.definition.emailVerification, required: true },
  };
  beforeAll(async () => {
    strict = await start({ definition: required });
  });

  test.for([
    ["/sign-up", "/sign-in"],
    ["/sign-up/email", "/sign-in/email"],
  ] as const)("lets nobody in by %s and %s before the link is opened", async ([signUp, signIn]) => {
    const headers = { origin };
    const up = await strict.post(signUp, ann, { headers });
    expect(up).toMatchObject({ status: 403, body: { code: "EMAIL_NOT_VERIFIED" } });
    expect(up.headers.get("set-cookie")).toBeNull();
    await mail();
    const wrong = await strict.post(signIn, { ...ann, password: "wrong horse" }, { headers });
    expect(wrong).toMatchObject({ status: 401, body: { code: "INVALID_CREDENTIALS" } });
    const right = await strict.post(signIn, ann, { headers });
    expect(right).toMatchObject({ status: 403, body: { code: "EMAIL_NOT_VERIFIED" } });
    expect(right.headers.get("set-cookie")).toBeNull();
    expect(await db.snapshot("auth.session")).toEqual([]);
    await visit(strict, (await mail()).url); // a fresh one, for the right password
    expect((await strict.post(signIn, ann, { headers })).status).toBe(200);
  });

  test("still says that an address is taken", async () => {
    await strict.signUp();
    expect(await strict.signUp()).toMatchObject({ status: 409, body: { code: "EMAIL_TAKEN" } });
    expect(await db.snapshot('auth."user"')).toHaveLength(1);
    await mail();
  });

  test("sends no more fresh links than mails are allowed, and answers all the same", async () => {
    const few = await startAuthServer(db, { definition: required, limits: { mailsPerAccount: 2 } });
    const before = mailbox.mails.length;
    await few.signUp();
    for (let n = 0; n < 5; n++) expect((await few.post("/sign-in", ann)).status).toBe(403);
    await few.close(); // sends what waits
    expect(mailbox.mails.length - before).toBe(2);
    await Promise.all([mail(), mail()]);
  });

  test("without a mailer does not start in production, and prints the mail elsewhere", async () => {
    const definition = defineAuth({ emailVerification: { required: true } });
    const refused = startAuthServer(db, { definition });
    await expect(refused).rejects.toThrow(/nobody could sign in/);
    const local = await startAuthServer(db, { definition, production: false });
    expect((await local.signUp()).status).toBe(403);
    await local.close();
    const line = local.log.map((text) => JSON.parse(text)).find(({ msg }) => /this is the mail/.test(msg));
    expect(line).toMatchObject({ level: 30, mail: "verification", email: ann.email });
    expect(await landed(line.url, strict)).toBe(`${origin}/?verified=true`);
    expect((await strict.post("/sign-in", ann)).status).toBe(200);
  });
});
