// If this file fails, a plugin's hook does nothing at a door of svc: a banned user signs in, a leaked password is taken.
import { getCurrentAuthEndpointContext } from "@better-auth/core/context";
import { APIError, createAuthEndpoint, createAuthMiddleware, sessionMiddleware } from "better-auth/api";
import { admin } from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

/** Refuses passwords as `haveIBeenPwned` does: by the path, where they are hashed. */
const leaked = {
  id: "leaked",
  init: ({ password }: { password: { hash(text: string): Promise<string> } }) => ({
    context: {
      password: {
        ...password,
        hash: async (text: string) => {
          const { path } = getCurrentAuthEndpointContext();
          const isNew = ["/sign-up/email", "/change-password", "/reset-password"].includes(path ?? "");
          if (isNew && text.includes("leaked"))
            throw APIError.from("BAD_REQUEST", { code: "LEAKED", message: "Leaked." });
          return password.hash(text);
        },
      },
    },
  }),
};

/** As `@better-auth/api-key` with `enableSessionForAPIKeys`: the key, here the id of a user, stands for a session. */
const keys = {
  id: "api-key",
  hooks: {
    before: [
      {
        matcher: ({ headers }: { headers?: Headers }) => headers?.has("x-api-key") === true,
        handler: createAuthMiddleware(async (ctx) => {
          const user = await ctx.context.internalAdapter.findUserById(ctx.headers?.get("x-api-key") ?? "");
          if (!user) throw APIError.from("UNAUTHORIZED", { code: "INVALID_API_KEY", message: "No user." });
          ctx.context.session = { user, session: {} as never };
          return { context: ctx };
        }),
      },
    ],
  },
  endpoints: {
    whose: createAuthEndpoint(
      "/api-key/whose",
      { method: "GET", use: [sessionMiddleware] },
      async ({ context, json }) => json({ id: context.session.user.id }),
    ),
  },
};

const page = "https://front.test";
const mails: { url: string }[] = [];
const definition = defineAuth({
  emailAndPassword: { sendResetPassword: (mail) => void mails.push(mail) },
  oauth: { allowedReturnModes: ["token", "cookie"] },
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [admin(), leaked as never, keys as never],
  }),
});

const db = database();
let provider: ScriptedProvider;
let server: AuthServer;
let operator: string;
beforeAll(async () => {
  await migrateAuth(db, definition);
  provider = await startScriptedProvider();
  server = await startAuthServer(db, { google: provider.settings, definition, frontendOrigins: [page] });
  operator = (await server.signUp({ ...ann, email: "operator@example.com" })).body.sessionToken;
  await db.sql(`update auth."user" set role = 'admin'`);
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

const idOf = async (email: string) => (await db.sql('select id from auth."user" where email = $1', [email]))[0]?.id;

describe("a user who is banned", () => {
  const claims = { sub: "gina-1", email: "gina@example.com", email_verified: true, name: "Gina" };
  const signIn = (oauthReturnMode: string) =>
    new Browser(server).signIn(provider, { claims }, { callbackURL: `${page}/done`, oauthReturnMode });
  const ban = async (email: string) => {
    const answer = await server.post("/admin/ban-user", { userId: await idOf(email) }, { bearer: operator });
    expect(answer.status).toBe(200);
  };

  test("does not sign in by password", async () => {
    const { token } = (await server.signUp()).body;
    await ban(ann.email);
    expect(await server.caller(token)).toBeNull();
    expect(await server.post("/sign-in", ann)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  });

  test.for([
    ["at the endpoint", (id: string) => server.post("/admin/ban-user", { userId: id }, { bearer: operator })],
    ["by SQL", (id: string) => db.sql(`update auth."user" set banned = true where id = $1`, [id])],
    [
      "by SQL again, when the first ban is over",
      async (id: string) => {
        const ban = `update auth."user" set banned = true, ban_expires = now() + $2::interval where id = $1`;
        await db.sql(ban, [id, "-1 hour"]);
        await db.sql(ban, [id, "1 hour"]);
      },
    ],
  ] as const)("%s loses all sessions, and no other user does", async ([how, act]) => {
    const { user, sessionToken, token } = (await server.signUp({ ...ann, email: `${how.replace(/\W/g, "")}@x.org` }))
      .body;
    const acting = () => Promise.all([sessionToken, token].map((bearer) => server.caller(bearer)));
    expect(await acting()).not.toContain(null);
    await act(user.id);
    await expect.poll(acting).toEqual([null, null]);
    expect(await server.caller(operator)).not.toBeNull();
  });

  test("does not sign in with Google either, in neither mode, nor by a code from before", async () => {
    expect(results(await signIn("cookie"))).toEqual({ oauth: "success" });
    const { code } = results(await signIn("token"));
    await ban(claims.email);
    expect((await exchange(server, code)).status).toBe(401);
    const answer = await signIn("cookie");
    expect([results(answer), answer.headers.getSetCookie().join()]).toEqual([
      { error: "sign_up_refused" },
      expect.not.stringContaining("session_token"),
    ]);
    expect((await exchange(server, results(await signIn("token")).code)).status).toBe(401);
    const rows = await db.sql("select from auth.session where user_id = $1", [await idOf(claims.email)]);
    expect(rows).toEqual([]);
  });
});

test("an API key opens nothing while its user is banned, nor after the user is deleted", async () => {
  const { user } = (await server.signUp({ ...ann, email: "keys@example.com" })).body;
  const headers = { "x-api-key": user.id };
  const answers = async () => (await server.call("GET", "/api/auth/api-key/whose", undefined, { headers })).status;
  expect(await answers()).toBe(200);
  await db.sql(`update auth."user" set banned = true where id = $1`, [user.id]);
  expect(await answers()).toBe(403);
  await db.sql(`update auth."user" set ban_expires = now() - interval '1 hour' where id = $1`, [user.id]);
  expect(await answers()).toBe(200);
  await db.sql(`delete from auth."user" where id = $1`, [user.id]);
  expect(await answers()).toBe(401);
});

describe("a password that a plugin refuses", () => {
  const refused = { status: 400, body: { code: "BAD_REQUEST", error: "Leaked." } };
  const newPassword = "a leaked horse";
  const email = "leaked@example.com";

  test("is refused at sign-up, and where it replaces another", async () => {
    expect(await server.signUp({ email, name: "Ann", password: newPassword })).toMatchObject(refused);
    const { sessionToken } = (await server.signUp({ ...ann, email })).body;
    const change = { currentPassword: ann.password, newPassword };
    expect(await server.post("/change-password", change, { bearer: sessionToken })).toMatchObject(refused);
    const session = await server.auth.authenticate({ authorization: `Bearer ${sessionToken}` });
    if (!session) throw new Error("no session");
    const client = { address: "192.0.2.1", userAgent: "", left: new AbortController().signal };
    await expect((await server.auth.forHandlers()).setPassword(session, newPassword, client)).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: "Leaked.",
    });
  });

  test("is refused at a reset, and leaves the link usable", async () => {
    await server.post("/request-password-reset", { email, redirectTo: page });
    await expect.poll(() => mails.length).toBe(1);
    const token = new URL(mails[0]?.url ?? "").searchParams.get("token");
    expect(await server.post("/reset-password", { token, newPassword })).toMatchObject(refused);
    expect((await server.post("/sign-in", { ...ann, email })).status).toBe(200);
    const [kept] = await db.sql(
      "select extract(epoch from expires_at - now()) as s from auth.verification where identifier like 'reset-password:%'",
    );
    expect(Number(kept?.s)).toBeLessThan(3600);
    expect(await server.post("/reset-password", { token, newPassword: "a better horse" })).toMatchObject({
      status: 200,
    });
    expect((await server.post("/reset-password", { token, newPassword })).body.error).toMatch(
      /unknown, used or expired/,
    );
  });

  test("is taken from trusted code, which names no path", async () => {
    const user = { email: "seed@example.com", name: "Seed", password: newPassword };
    await expect((await server.auth.signIn()).users.create(user)).resolves.toEqual(expect.any(String));
  });
});
