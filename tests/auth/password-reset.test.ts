// If this file fails, a user who forgot the password cannot set a new one, or somebody else can.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { bad } from "../support/callback-urls.ts";
import { database, waitsForLock } from "../support/database.ts";
import { Mailbox, tokenOf } from "../support/mailbox.ts";

const db = database();
const front = "https://front.test";
const page = `${front}/reset?lang=de#form`;
const another = "a better horse";
const mailbox = new Mailbox();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db, { frontendOrigins: [front], definition: mailbox.definition });
});
afterAll(() => server.close());
beforeEach(() => db.sql('delete from auth."user"; delete from auth.verification'));

const request = (email = ann.email, redirectTo: unknown = page) =>
  server.post("/request-password-reset", { email, redirectTo });
const mail = () => mailbox.next("reset", ann.email);
const reset = (token: string, newPassword = another) => server.post("/reset-password", { token, newPassword });
const askedFor = async () => {
  await request();
  return tokenOf(await mail());
};
const canSignIn = async (password: string) => (await server.post("/sign-in", { ...ann, password })).status === 200;
const spent = { status: 400, body: { code: "BAD_REQUEST", error: expect.stringMatching(/unknown, used or expired/) } };

describe("a reset", () => {
  test("leads to the page that was named, replaces the password, ends all sessions and proves the address", async () => {
    const { body } = await server.signUp();
    expect(await request(" ANN@Example.com ")).toMatchObject({ status: 200, body: { success: true } });
    const { url } = await mail();
    expect(url).toMatch(/^https:\/\/front\.test\/reset\?lang=de&token=[\w-]{43}#form$/);
    const answer = await reset(tokenOf({ url }));
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect(Object.keys(answer.body)).toEqual(["success"]); // whoever got the mail still signs in
    expect(await server.caller(body.sessionToken)).toBeNull();
    expect([await canSignIn(ann.password), await canSignIn(another)]).toEqual([false, true]);
    expect(await db.sql('select email_verified from auth."user"')).toEqual([{ email_verified: true }]);
    expect(await reset(tokenOf({ url }), "a third horse")).toMatchObject(spent);
    expect(await canSignIn(another)).toBe(true);
  });

  test("gives a password to somebody who has come by a provider so far", async () => {
    await server.signUp();
    await db.sql("delete from auth.account");
    expect((await reset(await askedFor())).status).toBe(200);
    expect(await canSignIn(another)).toBe(true);
    expect(await db.snapshot("auth.account")).toHaveLength(1);
  });

  test("with a password that may not be one leaves the link usable", async () => {
    await server.signUp();
    const token = await askedFor();
    for (const newPassword of ["short", "x".repeat(129), 7, undefined]) {
      const { body } = await server.post("/reset-password", { token, newPassword });
      expect(body.code).toBe("VALIDATION_FAILED");
    }
    expect((await reset(token)).status).toBe(200);
  });

  test("that a hook of the application refuses changes nothing", async () => {
    await server.signUp();
    const token = await askedFor();
    const strict = await startAuthServer(db, {
      definition: {
        ...mailbox.definition,
        betterAuth: (defaults) => ({
          ...defaults,
          databaseHooks: { account: { update: { before: async () => false } } },
        }),
      },
    });
    expect((await strict.post("/reset-password", { token, newPassword: another })).status).toBe(403);
    await strict.close();
    expect(await canSignIn(ann.password)).toBe(true);
    expect(await db.sql('select email_verified from auth."user"')).toEqual([{ email_verified: false }]);
  });
});

describe("a link is nothing", () => {
  const change = async () => {
    const { sessionToken } = (await server.post("/sign-in", ann)).body;
    const body = { currentPassword: ann.password, newPassword: "a changed horse" };
    return server.post("/change-password", body, { bearer: sessionToken });
  };
  test.for<[string, () => Promise<unknown>]>([
    ["an hour later", () => db.sql("update auth.verification set expires_at = now()")],
    ["after the address changed", () => db.sql(`update auth."user" set email = 'new@example.com'`)],
    ["after the user is gone", () => db.sql('delete from auth."user"')],
    ["after the password was changed", change],
    ["after another link was used", async () => reset(await askedFor(), "a changed horse")],
  ])("%s", async ([, happens]) => {
    await server.signUp();
    const token = await askedFor();
    const [kept] = await db.sql(
      "select round(extract(epoch from expires_at - created_at) / 60) as minutes from auth.verification where identifier like 'reset-password:%'",
    );
    expect(Number(kept?.minutes)).toBe(60);
    await happens();
    const before = await db.snapshot("auth.account");
    expect(await reset(token)).toMatchObject(spent);
    expect(await db.snapshot("auth.account")).toEqual(before);
  });

  test("while the address changes: neither address is proved, and the password stays", async () => {
    await server.signUp();
    const token = await askedFor();
    const changing = await db.connect("admin");
    await changing.query(`begin; update auth."user" set email = 'new@example.com'`);
    const answer = reset(token);
    await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
    await changing.query("commit");
    expect(await answer).toMatchObject(spent);
    expect(await db.sql('select email_verified from auth."user"')).toEqual([{ email_verified: false }]);
    expect((await server.post("/sign-in", { ...ann, email: "new@example.com" })).status).toBe(200);
  });

  test("when it is one of verification, or no token at all", async () => {
    await server.signUp();
    const { email } = (await server.signUp({ ...ann, email: "unproved@example.com" })).body.user;
    const { url } = await mailbox.next("verification", email);
    for (const token of [tokenOf({ url }), "", "x", "a".repeat(43), `${"a".repeat(42)}'`]) {
      expect(await reset(token)).toMatchObject(spent);
    }
    for (const token of [undefined, null, 7, { token: "x" }]) {
      const { body } = await server.post("/reset-password", { token, newPassword: another });
      expect(body.code).toBe("VALIDATION_FAILED");
    }
    expect(await canSignIn(ann.password)).toBe(true);
  });
});

describe("a request", () => {
  test("for an address without an account is answered alike, and nobody gets a mail", async () => {
    const own = await startAuthServer(db, { definition: mailbox.definition, frontendOrigins: [front] });
    await server.signUp();
    const resets = () => mailbox.mails.filter(({ kind }) => kind === "reset").map(({ email }) => email);
    const before = resets().length;
    const answers = [];
    for (const email of [ann.email, "nobody@example.com"]) {
      answers.push(await own.post("/request-password-reset", { email, redirectTo: page }));
    }
    const [known, unknown] = answers.map(({ status, text, headers }) => {
      const others = [...headers].filter(([name]) => !["date", "x-request-id"].includes(name));
      return { status, text, headers: others };
    });
    expect(unknown).toEqual(known);
    await own.close(); // sends what waits
    await mail();
    expect(resets().slice(before)).toEqual([ann.email]);
    expect(await db.sql("select from auth.verification where identifier like 'reset-password:%'")).toHaveLength(1);
  });

  test.for(bad.map((redirectTo) => ({ redirectTo })))("does not lead to $redirectTo", async ({ redirectTo }) => {
    expect(await request(ann.email, redirectTo)).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
  });

  test("replaces a token that the page's address has already", async () => {
    await server.signUp();
    await request(ann.email, `${front}/reset?token=old&a=1&token=older`);
    const { url } = await mail();
    expect(new URL(url).searchParams.getAll("token")).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    expect(url).toContain("a=1");
  });

  test("without a mailer is refused in production, and printed elsewhere", async () => {
    await server.signUp();
    const body = { email: ann.email, redirectTo: "/reset" };
    const deaf = await startAuthServer(db);
    for (const email of [ann.email, "nobody@example.com"]) {
      const answer = await deaf.post("/request-password-reset", { ...body, email });
      expect(answer).toMatchObject({ status: 403, body: { hint: expect.stringMatching(/sendResetPassword/) } });
    }
    await deaf.close();
    expect(deaf.log.join("")).not.toMatch(/token=|ann@/);

    const local = await startAuthServer(db, { production: false });
    expect((await local.post("/request-password-reset", body)).status).toBe(200);
    await local.close();
    const line = local.log.map((text) => JSON.parse(text)).find(({ msg }) => /this is the mail/.test(msg));
    expect(line).toMatchObject({ level: 30, mail: "password reset", email: ann.email });
    expect(line.url).toMatch(`${origin}/reset?token=`);
    expect((await reset(tokenOf(line))).status).toBe(200);
  });

  test.for(["/request-password-reset", "/reset-password"])("to %s is refused where passwords are off", async (path) => {
    const off = await startAuthServer(db, { definition: { emailAndPassword: { enabled: false } } });
    expect((await off.post(path, {})).status).toBe(403);
    await off.close();
  });
});

// `npm run chaos` takes five hundred.
const links = process.env.CHAOS_ROUNDS ? 500 : 100;

test("of twenty who bring one link at the same moment one succeeds, and only that one hashes", async () => {
  let hashed = 0;
  const counting = await startAuthServer(db, {
    definition: {
      ...mailbox.definition,
      betterAuth: (defaults) => ({
        ...defaults,
        emailAndPassword: {
          enabled: true,
          ...defaults.emailAndPassword,
          password: {
            hash: async (password) => `plain:${++hashed}:${password}`,
            verify: async ({ hash, password }) => hash.endsWith(`:${password}`),
          },
        },
      }),
    },
  });
  const people = Array.from({ length: links }, (_, n) => `person-${n}@example.com`);
  await db.sql(
    `insert into auth."user" (id, name, email) select md5(email), 'Somebody', email from unnest($1::text[]) email`,
    [people],
  );
  await db.sql(
    `insert into auth.account (id, user_id, provider_id, account_id, password)
     select id, id, 'credential', id, 'plain:0:forgotten' from auth."user"`,
  );
  await Promise.all(people.map((email) => counting.post("/request-password-reset", { email, redirectTo: "/reset" })));
  const tokens = await Promise.all(people.map(async (email) => tokenOf(await mailbox.next("reset", email))));
  for (const [n, token] of tokens.entries()) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, guess) =>
        counting.post("/reset-password", { token, newPassword: `horse of ${guess} and ${n}` }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(400)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    const [account] = await db.sql("select password from auth.account where user_id = md5($1)", [people[n]]);
    expect(account?.password).toMatch(new RegExp(`:horse of ${winner} and ${n}$`));
  }
  expect(hashed).toBe(links);
  await counting.close();
}, 240_000);

test("no password, token, link or address of all that is in a log line", () => {
  const secrets = [ann.password, another, "a changed horse", "a third horse"];
  const links = mailbox.mails.flatMap((one) => [one.url, encodeURIComponent(one.url), tokenOf(one), one.email]);
  const log = server.log.join("");
  expect(links.length).toBeGreaterThan(200);
  expect([...secrets, ...links].filter((value) => log.includes(value))).toEqual([]);
  expect(log).toMatch(/a mail was given to the mailer/);
});
