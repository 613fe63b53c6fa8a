// If this file fails, people who sign in through a frontend's own server are signed out, or their session leaks.
import { afterEach, describe, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { readBridgeSession } from "../../client/sdk/src/server/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { bridgedFront, password, type Tab } from "../support/bridged-front.ts";
import { database } from "../support/database.ts";

const db = database();
const running = bridgedFront(db);
const session = { password };
const person = () => [`${crypto.randomUUID()}@example.com`, "correct horse", "Ann"] as const;

/** A page of the frontend with the SDK. */
function page(tab: Tab) {
  const auth = createAuthClient(running.service.url, { authBridge: {}, fetch: tab.fetch });
  return { auth, client: createSvcClient({ api, baseUrl: running.service.url, auth, fetch: tab.fetch }) };
}

/** The localStorage of a browser without a bridge. */
function stubStorage(): Map<string, string> {
  const items = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, String(value)),
    removeItem: (key: string) => void items.delete(key),
  });
  return items;
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the SDK with a bridge", () => {
  // useSuspenseQuery asked the bridge for a token first, by a path that has no origin on a server.
  test("calls as a visitor while a server renders the page", async () => {
    const baseUrl = running.service.url;
    const client = createSvcClient({ api, baseUrl, auth: createAuthClient(baseUrl, { authBridge: {} }) });
    expect(await client.query(api.posts.list)).toMatchObject({ data: [] });
    await expect(client.query(api.notes.list)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  test("signs up, calls the backend directly, survives a reload, and signs out", async () => {
    stubStorage();
    const tab = running.tab();
    const first = page(tab);
    const user = await first.auth.signUp(...person());
    await first.client.mutate(api.notes.create, { title: "over two origins" });

    const second = page(tab.reload());
    expect((await second.client.query(api.notes.list)).data).toMatchObject([{ title: "over two origins" }]);
    expect(await second.auth.restore()).toEqual(user);
    expect(await readBridgeSession(tab.cookie, session)).toMatchObject({ user });

    await second.auth.signOut();
    expect(tab.cookie).toBe("");
    expect(await page(tab.reload()).auth.restore()).toBeNull();
    expect(await db.sql("select from auth.session where user_id = $1", [user.id])).toEqual([]);
  });

  test("signs in with the password, and hears the backend's own refusal of a wrong one", async () => {
    const [email, secret, name] = person();
    await page(running.tab()).auth.signUp(email, secret, name);
    const { auth } = page(running.tab());
    await expect(auth.signIn(email, "wrong horse")).rejects.toMatchObject({ code: "INVALID_CREDENTIALS", status: 401 });
    expect(await auth.signIn(email, secret)).toMatchObject({ email, name });
    await expect(auth.signUp(email, secret, name)).rejects.toMatchObject({ code: "EMAIL_TAKEN", status: 409 });
  });

  test("no session token is in any answer, header, log line or storage of the whole life of a session", async () => {
    const stored = stubStorage();
    const tab = running.tab();
    const [email, secret, name] = person();
    const { auth, client } = page(tab);
    await auth.signUp(email, secret, name);
    await auth.signIn(email, secret);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
    await client.query(api.notes.list);
    vi.useRealTimers();
    await auth.restore();
    await tab.get("/api/auth/session");
    await expect(auth.signIn(email, "wrong horse")).rejects.toThrow();
    const kept = JSON.stringify([...stored]);
    await auth.signOut();

    const tokens = running.sessionTokens();
    expect(tokens.length).toBeGreaterThanOrEqual(2);
    const everything = [...tab.seen, ...tab.set, ...running.service.logged, kept].join("\n");
    for (const token of tokens) {
      const [bare = ""] = token.split(".");
      expect(bare).toMatch(/^\w{32}$/);
      expect(everything).not.toContain(bare);
    }
    expect(kept).toContain(email); // the canary would be seen there
    expect(tab.seen.length).toBeGreaterThanOrEqual(8);
  });
});

describe("the answers", () => {
  test("hold the user and the JWT, a sealed cookie of seven days, and nothing to keep", async () => {
    const tab = running.tab();
    const [email, secret, name] = person();
    const answer = await tab.post("/sign-up", { email, password: secret, name });
    expect(await answer.json()).toEqual({ user: { id: expect.any(String), email, name }, token: expect.any(String) });
    expect(tab.set).toEqual([
      expect.stringMatching(/^svc_bridge_session=Fe26\.2\*[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    for (const path of ["/token", "/sign-in", "/nothing", "/sign-out"]) {
      expect((await tab.post(path, {})).headers.get("cache-control")).toBe("no-store");
    }
    expect((await tab.get("/api/auth/session")).headers.get("cache-control")).toBe("no-store");
  });

  test("a refresh gives a JWT alone, and the cookie for another seven days", async () => {
    const { tab } = await running.signedIn();
    const before = tab.cookie;
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 6 * 24 * 3600_000 });
    const answer = await tab.post("/token");
    expect(await answer.json()).toEqual({ token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) });
    vi.setSystemTime(Date.now() + 2 * 24 * 3600_000);
    expect(await readBridgeSession(before, session)).toBeNull();
    expect(await readBridgeSession(tab.cookie, session)).not.toBeNull();
  });

  test("a refresh brings the user's new name", async () => {
    const { tab, email } = await running.signedIn("Ann");
    await db.sql(`update auth."user" set name = 'Änne 安' where email = $1`, [email]);
    await tab.post("/token");
    expect(await (await tab.get("/api/auth/session")).json()).toMatchObject({ user: { name: "Änne 安", email } });
  });

  test("a session token that the backend signs anew stays in the cookie", async () => {
    const { tab, sessionToken } = await running.signedIn();
    const renewed = `${sessionToken.slice(0, 32)}.anew`;
    running.proxy.between = (_path, answer) => JSON.stringify({ ...JSON.parse(answer), sessionToken: renewed });
    const body = await (await tab.post("/token")).json();
    running.proxy.between = (_path, answer) => answer;
    expect(body).toEqual({ token: expect.any(String) });
    expect(await readBridgeSession(tab.cookie, session)).toMatchObject({ sessionToken: renewed });
  });

  test("who is there is told without a token, and nobody is 401", async () => {
    const { tab, email } = await running.signedIn();
    const answer = await tab.get("/api/auth/session");
    expect(await answer.json()).toEqual({ user: { id: expect.any(String), email, name: "Ann" } });
    const nobody = await running.tab().get("/api/auth/session");
    expect([nobody.status, await nobody.json()]).toEqual([401, expect.objectContaining({ code: "UNAUTHORIZED" })]);
  });

  test("a session that the backend has ended is over here, too", async () => {
    const { tab, email } = await running.signedIn();
    await db.sql(`delete from auth.session where user_id = (select id from auth."user" where email = $1)`, [email]);
    expect((await tab.post("/token")).status).toBe(401);
    expect(tab.cookie).toBe("");
  });
});

describe("two who refresh at the same moment", () => {
  test("a hundred ask the backend once, and every one of them stays signed in", async () => {
    const { tab } = await running.signedIn();
    const before = tab.cookie;
    const calls = running.proxy.count("/api/auth/token");
    const { held, release } = running.proxy.hold("/api/auth/token");
    const arrivals = running.arrivals(100);
    const hundred = Array.from({ length: 100 }, async () => {
      const one = running.tab();
      one.cookies.set("svc_bridge_session", before.replace("svc_bridge_session=", ""));
      return { one, answer: await one.post("/token") };
    });
    await Promise.all([held, arrivals]);
    // The answer is delayed until all calls have opened their cookies, as these five have.
    for (let turn = 0; turn < 5; turn++) await readBridgeSession(before, session);
    release();
    for (const { one, answer } of await Promise.all(hundred)) {
      expect(answer.status).toBe(200);
      expect(await readBridgeSession(one.cookie, session)).not.toBeNull();
    }
    expect(running.proxy.count("/api/auth/token") - calls).toBe(1);
    expect((await tab.post("/token")).status).toBe(200); // with the cookie of before
  });

  test("a refresh that is under way does not bring a signed-out session back", async () => {
    const { tab } = await running.signedIn();
    const { held, release } = running.proxy.hold("/api/auth/token");
    const late = tab.reload().post("/token");
    await held;
    expect((await tab.post("/sign-out")).status).toBe(200);
    release();
    expect((await late).status).toBe(401);
    expect(tab.cookie).toBe("");
  });
});
