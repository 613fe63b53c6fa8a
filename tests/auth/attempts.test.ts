// If this file fails, passwords can be guessed faster than the limits allow, or guesses lock out the account's owner.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AuthServer, type AuthServerOptions, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { Mailbox } from "../support/mailbox.ts";
import { rawRequest } from "../support/raw-http.ts";

const db = database();
const started: AuthServer[] = [];
async function start(limits: AuthServerOptions["limits"], options: AuthServerOptions = {}): Promise<AuthServer> {
  const server = await startAuthServer(db, { trustProxy: 1, ...options, limits });
  started.push(server);
  return server;
}
beforeEach(() => db.sql('delete from auth."user"; delete from auth.attempt'));
afterEach(() => Promise.all(started.splice(0).map((server) => server.close())));

const wrong = { ...ann, password: "wrong horse" };
/** A client with that address, behind the one trusted proxy. */
const at = (address: string, more: Record<string, string> = {}) => ({
  headers: { "x-forwarded-for": address, ...more },
});
const home = at("192.0.2.1");
const strangers = (n: number) => at(`198.51.100.${n}`);
const limited = { status: 429, body: { code: "RATE_LIMITED" } };
/** The answer, without the parts that differ in every answer. */
const told = ({ status, body, headers }: Awaited<ReturnType<AuthServer["post"]>>) => {
  const { requestId: _, ...rest } = body;
  const names = [...headers.keys()].filter((name) => !["date", "x-request-id", "retry-after"].includes(name));
  return { status, rest, headers: names };
};

describe("wrong passwords for an account", () => {
  test("are counted from wherever they come; then the right one is refused as well, alike for unknown accounts", async () => {
    const server = await start({ signInsPerAccount: 10 });
    await server.post("/sign-up", ann, home);
    const answers: Record<string, ReturnType<typeof told>[]> = {};
    for (const email of [ann.email, "nobody@example.com"]) {
      const tries = [];
      for (let n = 0; n < 12; n++) tries.push(await server.post("/sign-in", { ...wrong, email }, strangers(n)));
      tries.push(await server.post("/sign-in", { ...ann, email }, strangers(99)));
      expect(tries.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429, 429, 429]);
      const wait = Number(tries.at(-1)?.headers.get("retry-after"));
      expect(wait).toBeGreaterThan(800);
      expect(wait).toBeLessThanOrEqual(900);
      answers[email] = tries.map(told);
    }
    expect(answers["nobody@example.com"]).toEqual(answers[ann.email]);
    expect(await db.snapshot("auth.session")).toHaveLength(1); // of the sign-up
  });

  test("from elsewhere do not lock its owner out where they signed in before", async () => {
    const server = await start({ signInsPerAccount: 3 });
    await server.post("/sign-up", ann, home);
    for (let n = 0; n < 4; n++) await server.post("/sign-in", wrong, strangers(n));
    expect(await server.post("/sign-in", ann, strangers(9))).toMatchObject(limited);
    expect((await server.post("/sign-in", ann, home)).status).toBe(200);
    // Attempts there are counted separately.
    for (let n = 0; n < 3; n++) expect((await server.post("/sign-in", wrong, home)).status).toBe(401);
    expect(await server.post("/sign-in", ann, home)).toMatchObject(limited);
    await db.sql("update auth.attempt set ends_at = now(), kept_until = now()");
    expect((await server.post("/sign-in", ann, strangers(9))).status).toBe(200);
  });

  test("are one count, whatever is spelled, whichever door is taken, and in every process", async () => {
    const limits = { signInsPerAccount: 6 };
    const [server, other] = [await start(limits), await start(limits)];
    const { sessionToken } = (await server.post("/sign-up", ann, home)).body;
    await db.sql("delete from auth.attempt");
    const tries = [
      server.post("/sign-in", wrong, strangers(1)),
      server.post("/sign-in/email", { ...wrong, email: "  ANN@example.com\t" }, at("198.51.100.2", { origin })),
      other.post("/sign-in", { ...wrong, email: "Ann@Example.COM\u00a0" }, strangers(3)),
      other.post("/sign-in?a=b", { ...wrong, email: "\u2003ann@EXAMPLE.com" }, strangers(4)),
      server.post(
        "/change-password",
        { currentPassword: "wrong horse", newPassword: "a better horse" },
        {
          bearer: sessionToken,
          ...strangers(5),
        },
      ),
      other.post("/delete-user", { password: "wrong horse" }, { bearer: sessionToken, ...strangers(6) }),
    ];
    for (const answer of tries) expect((await answer).body.code).toBe("INVALID_CREDENTIALS");
    expect(await server.post("/sign-in", ann, strangers(7))).toMatchObject(limited);
    expect(await other.post("/sign-in/email", ann, at("198.51.100.8", { origin }))).toMatchObject(limited);
    const own = { bearer: sessionToken, ...strangers(9) };
    expect(await server.post("/delete-user", { password: ann.password }, own)).toMatchObject(limited);
    const change = { currentPassword: ann.password, newPassword: "a better horse" };
    expect(await server.post("/change-password", change, own)).toMatchObject(limited);
    // Another address is another account.
    expect((await server.post("/sign-in", { ...wrong, email: "ann+1@example.com" }, strangers(7))).status).toBe(401);
  });

  test("of a hundred at the same moment, ten are tried", async () => {
    const server = await start({ signInsPerAccount: 10 });
    await server.post("/sign-up", ann, home);
    const tries = await Promise.all(
      Array.from({ length: 100 }, (_, n) => server.post("/sign-in", wrong, strangers(n))),
    );
    const statuses = tries.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(90);
    expect(await server.post("/sign-in", ann, strangers(200))).toMatchObject(limited);
  });

  test("are forgotten when their time is over", async () => {
    const server = await start({ signInsPerAccount: 1 });
    await server.post("/sign-up", ann, home);
    expect((await server.post("/sign-in", wrong, strangers(1))).status).toBe(401);
    expect(await server.post("/sign-in", ann, strangers(1))).toMatchObject(limited);
    await db.sql("update auth.attempt set ends_at = now() - interval '1 second'");
    expect((await server.post("/sign-in", ann, strangers(1))).status).toBe(200);
  });

  test("are no reason to refuse who resets the password from there", async () => {
    const mailbox = new Mailbox();
    const server = await start({ signInsPerAccount: 1 }, { definition: mailbox.definition });
    await server.post("/sign-up", ann, home);
    for (let n = 0; n < 2; n++) await server.post("/sign-in", wrong, strangers(n));
    await server.post("/request-password-reset", { email: ann.email, redirectTo: "/reset" }, strangers(1));
    const token = new URL((await mailbox.next("reset", ann.email)).url).searchParams.get("token");
    await server.post("/reset-password", { token, newPassword: "a better horse" }, strangers(1));
    expect((await server.post("/sign-in", { ...ann, password: "a better horse" }, strangers(1))).status).toBe(200);
    expect(await server.post("/sign-in", ann, strangers(2))).toMatchObject(limited);
  });
});

describe("what is not a wrong password", () => {
  test("is not counted: the right one, and what never came to be compared", async () => {
    const server = await start({ signInsPerAccount: 1, signInsPerAddress: 1 });
    await server.post("/sign-up", ann, home);
    for (let n = 0; n < 3; n++) {
      expect((await server.post("/sign-in", ann, strangers(1))).status).toBe(200);
      expect((await server.post("/sign-in", { ...ann, password: 7 }, strangers(1))).status).toBe(400);
      expect((await server.post("/sign-in/email", wrong, strangers(1))).status).toBe(403); // no Origin
      await db.sql("alter table auth.account rename to elsewhere");
      expect((await server.post("/sign-in", wrong, strangers(1))).status).toBe(500);
      await db.sql("alter table auth.elsewhere rename to account");
    }
    expect((await server.post("/sign-in", wrong, strangers(1))).status).toBe(401);
    expect(await server.post("/sign-in", ann, strangers(1))).toMatchObject(limited);
  });
});

describe("right passwords", () => {
  test("are limited too, because each is hashed: of thirty at the same moment, five are", async () => {
    const server = await start({ passwordsPerAccount: 5 });
    await server.post("/sign-up", ann, home);
    const tries = await Promise.all(Array.from({ length: 30 }, () => server.post("/sign-in", ann, home)));
    expect(tries.map(({ status }) => status).sort()).toEqual([...Array(5).fill(200), ...Array(25).fill(429)]);
    expect(await server.post("/sign-in", ann, home)).toMatchObject(limited);
  });

  test("of all accounts together are limited for an address", async () => {
    const server = await start({ passwordsPerAddress: 2 });
    await server.post("/sign-up", ann, home);
    expect((await server.post("/sign-in", ann, home)).status).toBe(200);
    expect((await server.post("/sign-in", { ...wrong, email: "bob@example.com" }, home)).status).toBe(401);
    expect(await server.post("/sign-in", ann, home)).toMatchObject(limited);
    expect((await server.post("/sign-in", ann, strangers(1))).status).toBe(200);
  });
});

describe("an address", () => {
  test("has so many wrong passwords for all accounts together", async () => {
    const server = await start({ signInsPerAddress: 5 });
    await server.post("/sign-up", ann, strangers(1));
    const guess = (n: number, from = strangers(1)) =>
      server.post("/sign-in", { ...wrong, email: `p${n}@example.com` }, from);
    for (let n = 0; n < 5; n++) expect((await guess(n)).status).toBe(401);
    expect(await guess(6)).toMatchObject(limited);
    expect(await server.post("/sign-in", ann, strangers(1))).toMatchObject(limited);
    expect((await guess(6, strangers(2))).status).toBe(401);
  });

  test("is not what a client says of itself", async () => {
    const server = await start({ signInsPerAddress: 3 }, { trustProxy: false });
    const headers = [
      "X-Forwarded-For",
      "X-Real-IP",
      "Forwarded",
      "CF-Connecting-IP",
      "X-Client-IP",
      "X-Svc-Client-Address",
    ];
    const statuses = [];
    for (const [n, header] of headers.entries()) {
      const lie = { headers: { [header]: `198.51.100.${n}`, "x-forwarded-for": `203.0.113.${n}` } };
      statuses.push((await server.post("/sign-in", { ...wrong, email: `p${n}@example.com` }, lie)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    expect(await db.sql("select subject from auth.attempt where kind = 'signInsPerAddress'")).toEqual([
      { subject: "127.0.0.1" },
    ]);
  });

  test("is the network of an IPv6 client, of whose addresses it has 2^64", async () => {
    const server = await start({ signInsPerAddress: 3 });
    const spellings = ["2001:db8:1:2::1", "2001:DB8:1:2:ffff::9", "2001:0db8:0001:0002:a:b:c:d", "2001:db8:1:2::"];
    const statuses = [];
    for (const [n, address] of spellings.entries()) {
      statuses.push((await server.post("/sign-in", { ...wrong, email: `p${n}@example.com` }, at(address))).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await server.post("/sign-in", wrong, at("2001:db8:1:3::1"))).status).toBe(401);
  });

  test("may make so many accounts, and learn of so many that are taken", async () => {
    const server = await start({ signUpsPerAddress: 3 });
    const signUp = async (email: string, from = home) =>
      (await server.post("/sign-up", { ...ann, email }, from)).status;
    expect(await signUp("a@example.com")).toBe(200);
    expect(await signUp("a@example.com")).toBe(409);
    expect(
      (await server.post("/sign-up/email", { ...ann, email: "b@example.com" }, at("192.0.2.1", { origin }))).status,
    ).toBe(200);
    expect(await signUp("c@example.com")).toBe(429);
    expect(await signUp("c@example.com", strangers(1))).toBe(200);
  });

  test("may bring so many bad tokens, whatever they are for", async () => {
    const server = await start({ redemptionsPerAddress: 4 });
    const token = "a".repeat(43);
    const good = await server.auth.once.add("verify-email", { userId: "x", email: "x" }, 60);
    const visit = (value: string) =>
      rawRequest(server.url, {
        method: "GET",
        path: `/api/auth/verify-email?token=${value}`,
        headers: [["X-Forwarded-For", "192.0.2.1"]],
      });
    expect((await server.post("/oauth/exchange", { code: token }, home)).status).toBe(401);
    expect((await server.post("/reset-password", { token, newPassword: "a better horse" }, home)).status).toBe(400);
    expect((await visit(token)).status).toBe(302);
    expect((await visit(good)).status).toBe(302); // its user does not exist
    for (const answer of [
      await server.post("/oauth/exchange", { code: token }, home),
      await server.post("/reset-password", { token, newPassword: "a better horse" }, home),
      await visit(token),
    ]) {
      expect(answer.status).toBe(429);
    }
    expect((await server.post("/oauth/exchange", { code: token }, strangers(1))).status).toBe(401);
  });
});

describe("mails", () => {
  test("are limited to each address and from each address, whether or not there is an account", async () => {
    const mailbox = new Mailbox();
    const server = await start({ mailsPerAccount: 2, mailsPerAddress: 5 }, { definition: mailbox.definition });
    await server.post("/sign-up", { ...ann, email: "other@example.com" }, home);
    await db.sql("delete from auth.attempt");
    const ask = async (email: string, from = home) =>
      told(await server.post("/request-password-reset", { email, redirectTo: "/reset" }, from));
    const known = [await ask("other@example.com"), await ask("Other@example.com "), await ask("other@example.com")];
    const unknown = [await ask("nobody@example.com"), await ask("nobody@example.com"), await ask("nobody@example.com")];
    expect(known.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(unknown).toEqual(known);
    expect((await ask("third@example.com")).status).toBe(200);
    expect((await ask("fourth@example.com")).status).toBe(429);
    expect((await ask("fourth@example.com", strangers(1))).status).toBe(200);
  });

  test("of verification are limited, too", async () => {
    const mailbox = new Mailbox();
    const server = await start({ mailsPerAccount: 3 }, { definition: mailbox.definition });
    const { sessionToken } = (await server.post("/sign-up", ann, home)).body; // the first
    const ask = async () => (await server.post("/send-verification-email", {}, { bearer: sessionToken })).status;
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
  });
});

test("a limit that is switched off counts nothing", async () => {
  const passwords = { passwordsPerAccount: false, passwordsPerAddress: false } as const;
  const server = await start({
    signInsPerAccount: false,
    signInsPerAddress: false,
    signUpsPerAddress: false,
    ...passwords,
  });
  await server.post("/sign-up", ann, home);
  expect((await server.post("/sign-in", wrong, home)).status).toBe(401);
  expect((await server.post("/sign-in", ann, home)).status).toBe(200);
  expect(await db.snapshot("auth.attempt")).toEqual([]);
});

test("the table tells no e-mail address, not even one that does not exist", async () => {
  const server = await start({});
  for (const email of [ann.email, "nobody@example.com"]) await server.post("/sign-in", { ...wrong, email }, home);
  const rows = await db.snapshot("auth.attempt");
  expect(rows.length).toBe(6); // of two accounts and one address: wrong passwords, and all passwords
  expect(JSON.stringify(rows)).not.toMatch(/example|ann|nobody/);
});
