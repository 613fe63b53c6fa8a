// If this file fails, a user cannot change the password, end a stolen session or delete the account; or another person
// can.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db);
});
afterAll(() => server.close());
beforeEach(() => db.sql('delete from auth."user"'));

const another = "a better horse";
const change = { currentPassword: ann.password, newPassword: another };
const cookieFor = (signed: string) => `__Secure-authlib.session_token=${encodeURIComponent(signed)}`;
const signIn = async (password = ann.password) => (await server.post("/sign-in", { ...ann, password })).body;
const isAlive = async ({ sessionToken }: { sessionToken: string }) => (await server.caller(sessionToken)) !== null;

type Tokens = { sessionToken: string; token: string };
const credentials = [
  ["a JWT", ({ token }: Tokens) => ({ authorization: `Bearer ${token}` })],
  ["a session token", ({ sessionToken }: Tokens) => ({ authorization: `Bearer ${sessionToken}` })],
  ["the cookie", ({ sessionToken }: Tokens) => ({ cookie: cookieFor(sessionToken), origin })],
] as const;
const endpoints = [
  ["/change-password", change],
  ["/delete-user", { password: ann.password }],
  ["/sign-out-everywhere", undefined],
] as const;

describe("a changed password", () => {
  test.for(credentials)("ends all other sessions and keeps the one that asked, by %s", async ([, headersOf]) => {
    const [first, second] = [(await server.signUp()).body, await signIn()];
    const answer = await server.post("/change-password", change, { headers: headersOf(second) });
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect([await isAlive(first), await isAlive(second)]).toEqual([false, true]);
    expect((await server.post("/sign-in", ann)).status).toBe(401);
    expect((await server.post("/sign-in", { ...ann, password: another })).status).toBe(200);
  });

  test("takes one connection, so that many at the same moment do not wait for each other", async () => {
    const small = await startAuthServer(db, { max: 2 });
    const people = await Promise.all(
      Array.from({ length: 8 }, (_, n) => small.signUp({ ...ann, email: `person-${n}@example.com` })),
    );
    const answers = await Promise.all(
      people.map(({ body }) => small.post("/change-password", change, { bearer: body.sessionToken })),
    );
    expect(answers.map(({ status }) => status)).toEqual(people.map(() => 200));
    await small.close();
  });

  test("ends more sessions than the library lists at a time", async () => {
    const { body } = await server.signUp();
    await db.sql(
      `insert into auth.session (id, user_id, token, expires_at)
       select 's' || n, $1, 't' || n, now() + interval '1 day' from generate_series(1, 250) n`,
      [body.user.id],
    );
    expect((await server.post("/change-password", change, { bearer: body.sessionToken })).status).toBe(200);
    expect(await db.snapshot("auth.session")).toHaveLength(1);
  });

  test("needs the present one, and a new one that may be one", async () => {
    const { body } = await server.signUp();
    const ask = async (with_: object) => {
      const { status, body: answer } = await server.post("/change-password", with_, { bearer: body.sessionToken });
      return [status, answer.code];
    };
    expect(await ask({ ...change, currentPassword: "wrong horse" })).toEqual([401, "INVALID_CREDENTIALS"]);
    expect(await ask({ ...change, newPassword: "short" })).toEqual([400, "VALIDATION_FAILED"]);
    expect("\ufdfa".normalize("NFKC")).toHaveLength(18);
    expect(await ask({ ...change, newPassword: "\ufdfa" })).toEqual([400, "VALIDATION_FAILED"]);
    expect(await ask({ newPassword: another })).toEqual([400, "VALIDATION_FAILED"]);
    expect((await server.post("/sign-in", ann)).status).toBe(200);
  });

  test("of two changes at the same moment one counts, and the other is told", async () => {
    const { body } = await server.signUp();
    const wanted = ["first new horse", "second new horse"];
    const answers = await Promise.all(
      wanted.map((newPassword) =>
        server.post("/change-password", { ...change, newPassword }, { bearer: body.sessionToken }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    const winner = wanted[answers.findIndex(({ status }) => status === 200)] ?? "";
    expect((await server.post("/sign-in", { ...ann, password: winner })).status).toBe(200);
  });

  test("leaves no session to a sign-in with the old one that was under way", async () => {
    // Cheap passwords, and a comparison that can be paused after a match.
    const held: PromiseWithResolvers<void>[] = [];
    const reached = Promise.withResolvers<void>();
    const slow = await startAuthServer(db, {
      definition: {
        betterAuth: (defaults) => ({
          ...defaults,
          emailAndPassword: {
            enabled: true,
            ...defaults.emailAndPassword,
            password: {
              hash: async (password) => `plain:${password}`,
              verify: async ({ hash, password }) => {
                reached.resolve();
                await held.shift()?.promise;
                return hash === `plain:${password}`;
              },
            },
          },
        }),
      },
    });
    const { body } = await slow.signUp();
    const pause = Promise.withResolvers<void>();
    held.push(pause);
    const overtaken = slow.post("/sign-in", ann);
    await reached.promise;
    expect((await slow.post("/change-password", change, { bearer: body.sessionToken })).status).toBe(200);
    pause.resolve();
    expect(await overtaken).toMatchObject({ status: 401, body: { code: "INVALID_CREDENTIALS" } });
    expect(await db.snapshot("auth.session")).toHaveLength(1);
    await slow.close();
  });
});

describe("an account without a password", () => {
  const withoutPassword = async () => {
    const { body } = await server.signUp();
    await db.sql("delete from auth.account");
    return body;
  };

  test("has none to change; a reset gives it one", async () => {
    const { sessionToken } = await withoutPassword();
    const answer = await server.post("/change-password", change, { bearer: sessionToken });
    expect(answer).toMatchObject({ status: 403, body: { code: "FORBIDDEN", hint: expect.stringMatching(/reset/) } });
  });

  test("can be deleted by a sign-in of the last ten minutes, and no older one", async () => {
    const { sessionToken } = await withoutPassword();
    await db.sql("update auth.session set created_at = now() - interval '11 minutes'");
    const old = await server.post("/delete-user", undefined, { bearer: sessionToken });
    expect(old).toMatchObject({ status: 403, body: { error: expect.stringMatching(/Sign in again/) } });
    await db.sql("update auth.session set created_at = now() - interval '9 minutes'");
    expect((await server.post("/delete-user", undefined, { bearer: sessionToken })).status).toBe(200);
    expect(await db.snapshot('auth."user"')).toEqual([]);
  });
});

describe("a deleted user", () => {
  beforeAll(async () => {
    await db.sql(`
      create table public.diary (user_id text references auth."user" (id) on delete cascade);
      create table public.invoice (user_id text references auth."user" (id))`);
  });

  test.for(credentials)(
    "is gone, with sessions, accounts and what refers to them on delete cascade, by %s",
    async ([, headersOf]) => {
      const other = (await server.signUp({ ...ann, email: "bob@example.com" })).body;
      const { body } = await server.signUp();
      await signIn();
      await db.sql("insert into diary values ($1), ($2)", [body.user.id, other.user.id]);
      const headers = headersOf(body);
      const answer = await server.post("/delete-user", { password: ann.password }, { headers });
      expect(answer).toMatchObject({ status: 200, body: { success: true } });
      expect(answer.headers.get("set-cookie")?.includes("Max-Age=0") ?? false).toBe("cookie" in headers);
      for (const table of ["auth.session", "auth.account", "public.diary"]) {
        expect(await db.sql(`select distinct user_id from ${table}`)).toEqual([{ user_id: other.user.id }]);
      }
      expect(await isAlive(body)).toBe(false);
      expect((await server.post("/sign-in", ann)).status).toBe(401);
      expect((await server.signUp()).status).toBe(200); // the address is free again
    },
  );

  test("stays, whole, where the application's foreign key forbids it", async () => {
    const { body } = await server.signUp();
    await db.sql("insert into invoice values ($1)", [body.user.id]);
    const answer = await server.post("/delete-user", { password: ann.password }, { bearer: body.sessionToken });
    expect(answer).toMatchObject({
      status: 409,
      body: { code: "CONFLICT", error: expect.stringMatching(/refer to this account/) },
    });
    expect(answer.text).not.toMatch(/invoice|fkey/);
    expect(await isAlive(body)).toBe(true);
    expect((await server.post("/sign-in", ann)).status).toBe(200);
    await db.sql("delete from invoice");
  });

  test("stays where a trigger of the application refuses, which says why", async () => {
    const { body } = await server.signUp();
    await db.sql(`
      create function public.refuse_account() returns trigger language plpgsql set search_path = '' as $$
      begin raise exception 'Hand your team over first.' using errcode = 'AP409', hint = 'Add an owner.'; end $$;
      create trigger refuse_account before delete on auth."user" for each row execute function public.refuse_account()`);
    try {
      const answer = await server.post("/delete-user", { password: ann.password }, { bearer: body.sessionToken });
      const said = { code: "CONFLICT", error: "Hand your team over first.", hint: "Add an owner." };
      expect(answer).toMatchObject({ status: 409, body: said });
      expect(await isAlive(body)).toBe(true);
    } finally {
      await db.sql("drop function public.refuse_account() cascade");
    }
  });

  test("stays, whole, where a hook of the application refuses", async () => {
    const seen: string[] = [];
    const strict = await startAuthServer(db, {
      definition: {
        betterAuth: (defaults) => ({
          ...defaults,
          databaseHooks: {
            user: { delete: { before: async ({ name }) => name !== "Keeper" } },
            session: { delete: { after: async () => void seen.push("session") } },
          },
        }),
      },
    });
    const kept = (await strict.signUp({ ...ann, name: "Keeper" })).body;
    const ask = (bearer: string) => strict.post("/delete-user", { password: ann.password }, { bearer });
    expect((await ask(kept.sessionToken)).status).toBe(403);
    expect(await isAlive(kept)).toBe(true);
    expect((await strict.post("/sign-in", ann)).status).toBe(200);
    expect(seen).toEqual([]);
    const gone = (await strict.signUp({ ...ann, email: "bob@example.com" })).body;
    expect((await ask(gone.sessionToken)).status).toBe(200);
    expect(seen).toEqual(["session"]);
    await strict.close();
  });

  test("needs the password, if there is one", async () => {
    const { body } = await server.signUp();
    const ask = async (with_: unknown) =>
      (await server.post("/delete-user", with_, { bearer: body.sessionToken })).body.code;
    expect(await ask({ password: "wrong horse" })).toBe("INVALID_CREDENTIALS");
    for (const none of [undefined, {}, { password: null }, { password: 7 }, []]) {
      expect(await ask(none)).toBe("VALIDATION_FAILED");
    }
    expect(await isAlive(body)).toBe(true);
  });
});

describe("a sign-out everywhere", () => {
  test.for(credentials)("ends all sessions of the user and of nobody else, by %s", async ([, headersOf]) => {
    const other = (await server.signUp({ ...ann, email: "bob@example.com" })).body;
    const [first, second] = [(await server.signUp()).body, await signIn()];
    const headers = headersOf(second);
    const answer = await server.post("/sign-out-everywhere", undefined, { headers });
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect(answer.headers.get("set-cookie")?.includes("Max-Age=0") ?? false).toBe("cookie" in headers);
    expect([await isAlive(first), await isAlive(second), await isAlive(other)]).toEqual([false, false, true]);
  });
});

describe.for(endpoints)("%s", ([path, body]) => {
  test("is not for strangers", async () => {
    await server.signUp();
    const none: Record<string, string>[] = [{}, { origin }];
    for (const headers of [...none, { authorization: "Bearer x" }, { authorization: "Bearer a.b.c" }]) {
      expect((await server.post(path, body, { headers })).status).toBe(401);
    }
    expect(await db.snapshot("auth.session")).toHaveLength(1);
  });

  test("is not for pages of other origins, nor for none, by cookie", async () => {
    const signed = (await server.signUp()).body.sessionToken;
    const foreign: Record<string, string>[] = [{ origin: "https://evil.test" }, { origin: "null" }, {}];
    for (const from of foreign) {
      const headers = { cookie: cookieFor(signed), ...from };
      expect((await server.post(path, body, { headers })).status).toBe(403);
    }
    expect((await server.post("/sign-in", ann)).status).toBe(200);
    expect(await isAlive({ sessionToken: signed })).toBe(true);
  });

  test("is not for a JWT whose session is over", async () => {
    const { token } = (await server.signUp()).body;
    await db.sql("delete from auth.session");
    expect((await server.post(path, body, { bearer: token })).status).toBe(401);
    expect((await server.post("/sign-in", ann)).status).toBe(200);
  });
});
