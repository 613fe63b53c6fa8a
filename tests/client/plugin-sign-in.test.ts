// If this file fails, users of a better-auth plugin, such as guests, cannot use the SDK, or a page's script gets at tokens
// that only the browser may hold.
import { anonymous, emailOTP } from "better-auth/plugins";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient } from "../../client/sdk/src/index.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";

let sent = "";
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [
      anonymous(),
      emailOTP({
        sendVerificationOTP: async ({ otp }) => {
          sent = otp;
        },
      }),
    ],
  }),
});
const db = database();
const running = new TestService(db, apiWith(), {}, undefined, undefined, definition);
beforeAll(async () => {
  await db.sql('alter table auth."user" add column is_anonymous boolean');
  await db.sql("set synchronous_commit to on");
  await running.start();
});
afterAll(() => running.stop());

const open: SvcClient<typeof api>[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.close();
  vi.unstubAllGlobals();
});
const connect = (options: Parameters<typeof createAuthClient>[1] = { sessionTokenStorage: "memory" }) => {
  const auth = createAuthClient(running.url, options);
  const client = createSvcClient({ api, baseUrl: running.url, auth, fetch: options.fetch as typeof fetch });
  open.push(client);
  return { auth, client };
};
const guestPath = "/sign-in/anonymous";
const guest = { id: expect.any(String), email: expect.any(String), name: "Anonymous" };

/** Keeps and sends cookies as a browser does. */
function jar() {
  let cookie = "";
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    asked.push(new URL(String(input)).pathname);
    const isWith = init?.credentials === "include";
    const headers = { ...(init?.headers as object), origin: running.url, ...(isWith && cookie && { cookie }) };
    const response = await globalThis.fetch(input, { ...init, headers });
    const [set] = response.headers.getSetCookie();
    if (isWith && set) cookie = set.split(";")[0] ?? "";
    return response;
  };
  return { fetch, asked, cookie: () => cookie };
}

describe("in token mode", () => {
  test("a guest calls, watches, renews the JWT and leaves like everybody", async () => {
    const { auth, client } = connect();
    await auth.call(guestPath);
    const { token, user } = auth.getState();
    expect(user).toEqual(guest);
    await client.mutate(api.notes.create, { title: "a guest's" });
    let total = -1;
    client.watch(api.notes.list, {}, (page) => {
      total = page.total;
    });
    await expect.poll(() => [client.realtime.getStatus(), total]).toEqual(["live", 1]);
    await db.sql("insert into notes (user_id, title) values ($1, 'from elsewhere')", [user?.id]);
    await expect.poll(() => total).toBe(2);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
    expect((await client.query(api.notes.list)).total).toBe(2);
    vi.useRealTimers();
    expect(auth.getState().token).not.toBe(token);
    await auth.signOut();
    expect(await db.sql("select 1 from auth.session where user_id = $1", [user?.id])).toEqual([]);
  });

  test("a guest who comes back is the same, by the session token that the page has stored", async () => {
    const items = new Map<string, string>();
    vi.stubGlobal("localStorage", {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => items.set(key, value),
      removeItem: (key: string) => items.delete(key),
    });
    const { auth } = connect({});
    await auth.call(guestPath);
    const { user } = auth.getState();
    expect(await connect({}).auth.restore()).toEqual(user);
  });

  test("the endpoint sees who calls, and its errors are those of other calls", async () => {
    const { auth } = connect();
    await auth.call(guestPath);
    const { user } = auth.getState();
    await expect(auth.call(guestPath)).rejects.toMatchObject({ code: "BAD_REQUEST", status: 400 });
    expect(auth.getState().user).toEqual(user);
    await auth.call("/delete-anonymous-user");
    expect(await auth.restore()).toBeNull();
  });

  test("a code by mail signs in, also where no page sends an origin", async () => {
    const { auth, client } = connect();
    const email = "kim@example.com";
    expect(await auth.call("/email-otp/send-verification-otp", { email, type: "sign-in" })).toEqual({ success: true });
    expect(auth.getState().isAuthenticated).toBe(false);
    const answer = await auth.call("/sign-in/email-otp", { email, otp: sent });
    expect(auth.getState().user).toMatchObject({ email });
    expect((await client.query(api.notes.list)).total).toBe(0);
    expect(answer).toMatchObject({ user: { email }, token: expect.any(String), sessionToken: expect.any(String) });
  });

  test("by GET it sends no body", async () => {
    const { auth } = connect();
    const answer = auth.call("/email-otp/get-verification-otp?email=a@example.com", undefined, { method: "GET" });
    await expect(answer).rejects.toMatchObject({ status: 404 }); // the plugin has it for servers only
  });
});

describe("in cookie mode", () => {
  test("a guest has the cookie, and scripts see no token", async () => {
    const { fetch, cookie } = jar();
    const { auth, client } = connect({ strategy: { kind: "cookie" }, fetch });
    const answer = await auth.call(guestPath);
    expect(JSON.stringify(answer)).not.toMatch(/token/i);
    expect(cookie()).toMatch(/^authlib\.session_token=/);
    expect(auth.getState()).toEqual({ token: null, user: guest, isAuthenticated: true });
    expect((await client.query(api.notes.list)).total).toBe(0);
  });
});

test("by way of a bridge it is refused, since the page would get the session token", async () => {
  const { fetch, asked } = jar();
  const { auth } = connect({ authBridge: {}, fetch });
  await expect(auth.call(guestPath)).rejects.toMatchObject({
    code: "BAD_REQUEST",
    hint: expect.stringMatching(/bridge/),
  });
  expect(asked).toEqual([]);
});

describe("the service gives tokens", () => {
  const ask = async (headers: Record<string, string>) => {
    const { body, headers: got } = await running.fetch(`/api/auth${guestPath}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: running.url, ...headers },
      body: "{}",
    });
    return [JSON.stringify(body).includes("sessionToken"), got.has("set-cookie")];
  };
  test.for<[string, Record<string, string>, [token: boolean, cookie: boolean]]>([
    ["to a client that asks for them, and then no cookie", { "svc-session": "token" }, [true, false]],
    ["to nobody else", {}, [false, true]],
    ["not for another word", { "svc-session": "cookie" }, [false, true]],
    // Its answer might hold what an HttpOnly cookie keeps from scripts.
    ["not with a cookie of the library", { "svc-session": "token", cookie: "authlib.two_factor=x" }, [false, true]],
  ])("%s", async ([, headers, expected]) => {
    expect(await ask(headers)).toEqual(expected);
  });
});
