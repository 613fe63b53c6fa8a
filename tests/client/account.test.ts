// If this file fails, a page cannot let its users set another password or leave, or signs them out by mistake.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { Mailbox, tokenOf } from "../support/mailbox.ts";
import { apiWith, TestService } from "../support/service.ts";

const db = database();
const front = "https://front.test";
const mailbox = new Mailbox();
const running = new TestService(db, apiWith(), { frontendOrigins: [front] }, undefined, undefined, mailbox.definition);
beforeAll(() => running.start());
afterAll(() => running.stop());

const person = () => [`${crypto.randomUUID()}@example.com`, "correct horse", "Ann"] as const;
const another = "a better horse";
const connect = () => createAuthClient(running.url, { sessionTokenStorage: "memory" });
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => "OK",
    ({ code }) => code,
  );

test("a lost password is replaced by the link of a mail", async () => {
  const [email, password, name] = person();
  await connect().signUp(email, password, name);
  const auth = connect();
  vi.stubGlobal("location", new URL(`${front}/sign-in`));
  try {
    await auth.requestPasswordReset(email, "/reset");
  } finally {
    vi.unstubAllGlobals();
  }
  const mail = await mailbox.next("reset", email);
  expect(mail.url).toMatch(/^https:\/\/front\.test\/reset\?token=/);
  await auth.resetPassword(tokenOf(mail), another);
  expect(auth.getState().isAuthenticated).toBe(false);
  expect(await code(auth.resetPassword(tokenOf(mail), another))).toBe("BAD_REQUEST");
  expect(await code(auth.signIn(email, password))).toBe("INVALID_CREDENTIALS");
  expect((await auth.signIn(email, another)).email).toBe(email);
});

test("another password keeps this session and ends the others; a wrong one signs nobody out", async () => {
  const [email, password, name] = person();
  const [auth, elsewhere] = [connect(), connect()];
  await auth.signUp(email, password, name);
  await elsewhere.signIn(email, password);
  expect(await code(auth.changePassword("wrong horse", another))).toBe("INVALID_CREDENTIALS");
  expect(auth.getState().user?.email).toBe(email);
  await auth.changePassword(password, another);
  const client = createSvcClient({ api, baseUrl: running.url, auth });
  expect(await client.query(api.notes.list)).toMatchObject({ total: 0 });
  expect(await elsewhere.restore()).toBeNull();
});

test("a token that was refused is renewed once", async () => {
  const [email, password, name] = person();
  const auth = connect();
  await auth.signUp(email, password, name);
  // The name is a part of the token, which the service therefore refuses.
  await db.sql('update auth."user" set name = $2 where email = $1', [email, "Anna"]);
  await auth.sendVerificationEmail();
  const { url } = await mailbox.next("verification", email);
  expect(url).toContain("/api/auth/verify-email?token=");
  expect(await code(connect().sendVerificationEmail())).toBe("UNAUTHORIZED");
});

test("the end of all sessions, and of the user, is known here at once", async () => {
  const [email, password, name] = person();
  const [auth, elsewhere] = [connect(), connect()];
  await auth.signUp(email, password, name);
  await elsewhere.signIn(email, password);
  await auth.signOutEverywhere();
  expect(auth.getState()).toEqual({ token: null, user: null, isAuthenticated: false });
  expect(await elsewhere.restore()).toBeNull();

  await auth.signIn(email, password);
  expect(await code(auth.deleteUser("wrong horse"))).toBe("INVALID_CREDENTIALS");
  await auth.deleteUser(password);
  expect(auth.getState().isAuthenticated).toBe(false);
  expect(await code(auth.signIn(email, password))).toBe("INVALID_CREDENTIALS");
});

// In cookie mode a 401 clears the state: the cookie has ended. A slow one may be of the time before there was a cookie.
test("a 401 to a call of before the sign-in signs nobody out", async () => {
  const [email, password, name] = person();
  let cookie = "";
  let isRefused = false;
  const gate = Promise.withResolvers<void>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const headers = { ...(init?.headers as Record<string, string>), origin: front, ...(cookie && { cookie }) };
    const response = await globalThis.fetch(input, { ...init, headers });
    cookie ||= response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    if (response.status !== 401) return response;
    isRefused = true;
    await gate.promise;
    return response;
  };
  const auth = createAuthClient(running.url, { strategy: { kind: "cookie" }, fetch });
  const client = createSvcClient({ api, baseUrl: running.url, auth, fetch });
  const early = code(client.query(api.notes.list));
  await vi.waitUntil(() => isRefused);
  await auth.signUp(email, password, name);
  gate.resolve();
  expect(await early).toBe("UNAUTHORIZED");
  expect(auth.getState().user?.email).toBe(email);
  await db.sql("delete from auth.session where user_id = $1", [auth.getState().user?.id]);
  expect(await code(client.query(api.notes.list))).toBe("UNAUTHORIZED");
  expect(auth.getState().user).toBeNull();
});
