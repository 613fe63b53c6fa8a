// Advisories about the library's limits, mails and passwords, tried on this service; each test is named after one. A
// failing test means that the hole is open here. Explanations: docs/reference/advisories.md.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AuthServer, type AuthServerOptions, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { Mailbox, tokenOf, visit } from "../support/mailbox.ts";
import { rawRequest } from "../support/raw-http.ts";

const db = database();
const started: AuthServer[] = [];
let mailbox: Mailbox;
async function start(options: AuthServerOptions = {}): Promise<AuthServer> {
  const server = await startAuthServer(db, { definition: mailbox.definition, ...options });
  started.push(server);
  return server;
}
beforeEach(async () => {
  mailbox = new Mailbox();
  await db.sql('delete from auth."user"; delete from auth.attempt');
});
afterEach(() => Promise.all(started.splice(0).map((server) => server.close())));

const wrong = { ...ann, password: "wrong horse" };
const post = (server: AuthServer, path: string, body: object, headers: [string, string][] = []) =>
  rawRequest(server.url, {
    method: "POST",
    path,
    headers: [["Content-Type", "application/json"], ["Origin", origin], ...headers],
    body: JSON.stringify(body),
  });
const resetToken = async (server: AuthServer) => {
  await server.post("/request-password-reset", { email: ann.email, redirectTo: "/reset" });
  return tokenOf(await mailbox.next("reset", ann.email));
};

describe("limits", () => {
  test("GHSA-x732-6j76-qmhm: more slashes, other letter case and encodings are a way around the limit of a path", async () => {
    const server = await start({ limits: { signInsPerAccount: 3, signInsPerAddress: 5 } });
    await server.signUp();
    await db.sql("delete from auth.attempt");
    const spellings = [
      ...["//api/auth/sign-in", "/api/auth//sign-in", "/api/auth/sign-in/", "/api/auth/Sign-In", "/API/auth/sign-in"],
      ...["/api/auth/sign-in//email", "/api/auth/sign-in/email/", "/api/auth/sign%2din", "/api/auth/x/../sign-in"],
      ...["/api/auth/sign-in%2femail", "/api/auth/sign-in;a=b", "/api/auth/./sign-in", "/api/auth/sign-in%00"],
    ];
    const tried = async () => (await db.sql("select coalesce(max(count), 0) as n from auth.attempt"))[0]?.n;
    for (const path of spellings) {
      const before = await tried();
      const { status } = await post(server, path, wrong);
      // Another path, or the same one, which is counted.
      if (status !== 404 && status !== 400) expect([status, await tried()]).toEqual([401, before + 1]);
    }
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await post(server, "/api/auth/sign-in?n=1", wrong)).status);
    expect(statuses.at(-1)).toBe(429);
    for (const path of [...spellings, "/api/auth/sign-in", "/api/auth/sign-in/email"]) {
      expect([400, 404, 429], path).toContain((await post(server, path, ann)).status);
    }
  });

  test("GHSA-p6v2-xcpg-h6xw: one IPv6 client has 2^64 addresses, and each of them many spellings", async () => {
    const server = await start({ trustProxy: 1, limits: { signInsPerAddress: 4, mailsPerAddress: 4 } });
    const addresses = [
      ...["2001:db8:a:b::1", "2001:DB8:A:B::1", "2001:0db8:000a:000b:0000:0000:0000:0001", "2001:db8:a:b:0:0:0:1"],
      ...[
        "2001:db8:a:b:ffff:ffff:ffff:ffff",
        "2001:db8:a:b::192.0.2.1",
        "[2001:db8:a:b::2]:443",
        "2001:db8:a:b::3%eth0",
      ],
    ];
    const statuses = { signIn: [] as number[], mail: [] as number[] };
    for (const [n, address] of addresses.entries()) {
      const headers: [string, string][] = [["X-Forwarded-For", address]];
      const email = `person-${n}@example.com`;
      statuses.signIn.push((await post(server, "/api/auth/sign-in", { ...wrong, email }, headers)).status);
      const body = { email, redirectTo: "/reset" };
      statuses.mail.push((await post(server, "/api/auth/request-password-reset", body, headers)).status);
    }
    expect(statuses.signIn).toEqual([...Array(4).fill(401), ...Array(4).fill(429)]);
    expect(statuses.mail).toEqual([...Array(4).fill(200), ...Array(4).fill(429)]);
    const mapped: [string, string][] = [
      "::ffff:192.0.2.9",
      "::FFFF:c000:0209",
      "192.0.2.9",
      "0:0:0:0:0:ffff:192.0.2.9",
    ].map((address) => ["X-Forwarded-For", address]);
    for (const header of mapped) {
      expect((await post(server, "/api/auth/sign-in", wrong, [header])).status).toBe(401);
    }
    expect((await post(server, "/api/auth/sign-in", wrong, mapped.slice(0, 1))).status).toBe(429);
  });
});

describe("tokens that work once", () => {
  test("GHSA-7w99-5wm4-3g79, GHSA-hc7v-rggr-4hvx: one token is redeemed by many requests at once", async () => {
    const server = await start();
    await server.signUp();
    const [reset, { url }] = [await resetToken(server), await mailbox.next("verification", ann.email)];
    const resets = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        server.post("/reset-password", { token: reset, newPassword: `horse number ${n}` }),
      ),
    );
    expect(resets.filter(({ status }) => status === 200)).toHaveLength(1);
    await db.sql('update auth."user" set email_verified = false');
    const visits = await Promise.all(Array.from({ length: 20 }, () => visit(server, url)));
    expect(visits.filter(({ location }) => location?.includes("verified=true"))).toHaveLength(1);
  });

  test("GHSA-965c-763c-88jm: a token for one thing is taken for another", async () => {
    const server = await start();
    const { user } = (await server.signUp()).body;
    const content = { userId: user.id, email: ann.email, old: null };
    for (const purpose of ["oauth-state", "oauth-code", "realtime-ticket", "verify-email"] as const) {
      const token = await server.auth.once.add(purpose, content, 60);
      expect((await server.post("/reset-password", { token, newPassword: "a better horse" })).status).toBe(400);
    }
    for (const purpose of ["oauth-state", "oauth-code", "realtime-ticket", "reset-password"] as const) {
      const token = await server.auth.once.add(purpose, content, 60);
      const { location } = await visit(server, `${origin}/api/auth/verify-email?token=${token}`);
      expect(location).toContain("error=invalid_token");
    }
  });
});

describe("sessions", () => {
  test("better-auth PR 8551: sessions survive a password reset unless an option is set", async () => {
    const server = await start({
      definition: {
        ...mailbox.definition,
        betterAuth: (defaults) => ({
          ...defaults,
          emailAndPassword: { enabled: true, ...defaults.emailAndPassword, revokeSessionsOnPasswordReset: false },
        }),
      },
    });
    const thief = (await server.signUp()).body;
    const token = await resetToken(server);
    await server.post("/reset-password", { token, newPassword: "a better horse" });
    expect(await server.caller(thief.sessionToken)).toBeNull();
    expect(await db.snapshot("auth.session")).toEqual([]);
  });

  test("better-auth changePassword: other sessions survive unless the caller asks to end them", async () => {
    const server = await start();
    const thief = (await server.signUp()).body;
    const own = (await server.post("/sign-in", ann)).body;
    const body = { currentPassword: ann.password, newPassword: "a better horse", revokeOtherSessions: false };
    expect((await server.post("/change-password", body, { bearer: own.sessionToken })).status).toBe(200);
    expect(await server.caller(thief.sessionToken)).toBeNull();
    expect(await server.caller(own.sessionToken)).not.toBeNull();
  });

  test("GHSA-2vg6-77g8-24mp: what outlives a deleted user: sessions, links in the mail, the counted attempts", async () => {
    const server = await start();
    const { sessionToken } = (await server.signUp()).body;
    const [reset, { url }] = [await resetToken(server), await mailbox.next("verification", ann.email)];
    await server.post("/delete-user", { password: ann.password }, { bearer: sessionToken });
    await server.signUp({ ...ann, password: "of the next holder" });
    expect((await server.post("/reset-password", { token: reset, newPassword: "a better horse" })).status).toBe(400);
    expect((await visit(server, url)).location).toContain("error=invalid_token");
    expect(await server.caller(sessionToken)).toBeNull();
    expect(await db.sql('select email_verified from auth."user"')).toEqual([{ email_verified: false }]);
  });
});

describe("mailboxes", () => {
  test("GHSA-8jhw-6pjj-8723, GHSA-hjpm-7mrm-26w8, GHSA-vp58-j275-797x: links that lead, or are sent, elsewhere", async () => {
    const server = await start();
    const { sessionToken } = (await server.signUp()).body;
    const { url } = await mailbox.next("verification", ann.email);
    const places = [
      ...[
        "https://evil.test",
        "//evil.test",
        "/\\evil.test",
        "https://app.test.evil.test",
        "https://app.test@evil.test",
      ],
      ...[
        "https:evil.test",
        "javascript:alert(1)",
        "data:text/html,x",
        "/\t/evil.test",
        "https://*.test",
        "http://app.test",
      ],
    ];
    for (const place of places) {
      const link = new URL(url);
      link.searchParams.set("callbackURL", place);
      expect((await visit(server, link.href)).status, place).toBe(400);
      const reset = { email: ann.email, redirectTo: place };
      expect((await server.post("/request-password-reset", reset)).status, place).toBe(400);
      const mail = await server.post("/send-verification-email", { callbackURL: place }, { bearer: sessionToken });
      expect(mail.status, place).toBe(400);
    }
  });

  test("GHSA-qq9h-g4jm-xgf3: password and sessions of a squatter survive the owner's proof of the mailbox", async () => {
    const server = await start();
    const squatter = (await server.signUp({ ...ann, password: "of the squatter" })).body;
    // The owner finds the address taken, and takes over the account by the mailbox.
    await server.post("/reset-password", { token: await resetToken(server), newPassword: "of the owner" });
    expect(await server.caller(squatter.sessionToken)).toBeNull();
    expect((await server.post("/token", {}, { bearer: squatter.sessionToken })).status).toBe(401);
    expect((await server.post("/sign-in", { ...ann, password: "of the squatter" })).status).toBe(401);
    expect((await server.post("/sign-in", { ...ann, password: "of the owner" })).status).toBe(200);
  });

  test("better-auth issue 7196: a link that was mailed to one address proves another one", async () => {
    const server = await start();
    await server.signUp();
    const { url } = await mailbox.next("verification", ann.email);
    const reset = await resetToken(server);
    await db.sql(`update auth."user" set email = 'typo@example.com'`);
    expect((await visit(server, url)).location).toContain("error=invalid_token");
    expect((await server.post("/reset-password", { token: reset, newPassword: "a better horse" })).status).toBe(400);
    expect(await db.sql('select email_verified from auth."user"')).toEqual([{ email_verified: false }]);
  });

  test("required verification is not gone around by signing up again, by the other family, or by another spelling", async () => {
    const { emailAndPassword, emailVerification } = mailbox.definition;
    const server = await start({
      definition: { emailAndPassword, emailVerification: { ...emailVerification, required: true } },
    });
    for (const path of ["/sign-up", "/sign-up/email", "/sign-in", "/sign-in/email"]) {
      for (const email of [ann.email, "ANN@example.com", " ann@example.com"]) {
        const more = { emailVerified: true, email_verified: true, callbackURL: "/", rememberMe: true };
        const answer = await server.post(path, { ...ann, ...more, email }, { headers: { origin } });
        expect([403, 409]).toContain(answer.status);
        expect(answer.text).not.toMatch(/token/i);
        expect(answer.headers.getSetCookie()).toEqual([]);
      }
    }
    expect(await db.snapshot("auth.session")).toEqual([]);
    expect(await db.sql('select email_verified from auth."user"')).toEqual([{ email_verified: false }]);
  });
});
