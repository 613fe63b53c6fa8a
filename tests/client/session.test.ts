/** How the SDK keeps a session: refreshes, reloads, other tabs, and its end. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient, SvcError } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);

/** Counts requests by path. */
class Counter {
  readonly sent: string[] = [];
  fetch: typeof globalThis.fetch = (input, init) => {
    this.sent.push(new URL(String(input)).pathname);
    return globalThis.fetch(input, init);
  };
  of = (path: string) => this.sent.filter((sent) => sent === path).length;
}

function connect(counter = new Counter(), storage: "local" | "memory" = "memory") {
  const auth = createAuthClient(running.url, { sessionTokenStorage: storage, fetch: counter.fetch });
  // A thousand calls at once may take a busy machine longer than the usual timeout.
  const patient = { timeoutMs: 55_000, auth, fetch: counter.fetch };
  return { auth, counter, client: createSvcClient({ api, baseUrl: running.url, ...patient }) };
}
const person = () => [`${crypto.randomUUID()}@example.com`, "correct horse", "Ann"] as const;

/** A browser's localStorage, which Node has only behind a flag. */
function browserStorage() {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, String(value)),
    removeItem: (key: string) => void items.delete(key),
    key: (index: number) => [...items.keys()][index] ?? null,
    get length() {
      return items.size;
    },
  };
}
const kept = () => Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index)).sort();

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a JWT that has run out", () => {
  test("is renewed once for a thousand calls at the same moment", async () => {
    const { auth, client, counter } = connect();
    await auth.signUp(...person());
    const old = auth.getState().token;
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
    const begun = counter.sent.length;
    const results = await Promise.all(Array.from({ length: 1000 }, () => client.query(api.notes.list)));
    expect(results.every(({ total }) => total === 0)).toBe(true);
    expect(counter.of("/api/auth/token")).toBe(1);
    expect(counter.sent[begun]).toBe("/api/auth/token"); // none went with the old one first
    expect(auth.getState().token).not.toBe(old);
  });

  test("is not used again when the service refuses it earlier than expected", async () => {
    const { auth, client, counter } = connect();
    await auth.signUp(...person());
    // The service deletes the key, so that its tokens become invalid.
    let refusals = 0;
    const refuseOnce: typeof fetch = (input, init) => {
      const path = new URL(String(input)).pathname;
      if (path === "/api/query" && refusals++ === 0) {
        return Promise.resolve(
          new Response('{"error":"Sign in.","code":"UNAUTHORIZED","requestId":"1"}', { status: 401 }),
        );
      }
      return counter.fetch(input, init);
    };
    const refused = createSvcClient({ api, baseUrl: running.url, auth, fetch: refuseOnce });
    expect(await refused.query(api.notes.list)).toEqual({ data: [], total: 0 });
    expect(counter.of("/api/auth/token")).toBe(1);
    expect(await client.query(api.notes.list)).toEqual({ data: [], total: 0 });
  });

  test("of a session that is over ends in being signed out, and a call that says so", async () => {
    const { auth, client } = connect();
    const user = await auth.signUp(...person());
    await db.sql("delete from auth.session where user_id = $1", [user.id]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
    await expect(client.query(api.notes.list)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(auth.getState()).toEqual({ token: null, user: null, isAuthenticated: false });
  });

  test("stays, and so does the user, while the service cannot be reached", async () => {
    const { auth } = connect();
    const user = await auth.signUp(...person());
    const offline = createSvcClient({ api, baseUrl: "http://127.0.0.1:9", auth });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1000 });
    await expect(offline.query(api.notes.list, {}, { retries: 0 })).rejects.toMatchObject({ code: "NETWORK_ERROR" });
    expect(auth.getState()).toMatchObject({ user, isAuthenticated: true });
  });
});

describe("a page that is reloaded", () => {
  beforeEach(() => vi.stubGlobal("localStorage", browserStorage()));

  test("shows the user at once, and fetches a JWT when one is needed", async () => {
    const before = connect(new Counter(), "local");
    const user = await before.auth.signUp(...person());
    const after = connect(new Counter(), "local");
    expect(after.auth.getState()).toEqual({ token: null, user, isAuthenticated: true });
    expect(await after.client.query(api.notes.list)).toEqual({ data: [], total: 0 });
    expect(after.counter.sent).toEqual(["/api/auth/token", "/api/query"]);
    expect(await after.auth.restore()).toEqual(user);
  });

  test("keeps the session token and the user there, and the JWT nowhere", async () => {
    const { auth } = connect(new Counter(), "local");
    const user = await auth.signUp(...person());
    expect(localStorage.getItem("svc.session")).toMatch(/^\w{32}\./);
    expect(JSON.parse(localStorage.getItem("svc.user") ?? "")).toEqual(user);
    expect(kept()).toEqual(["svc.session", "svc.user"]);
    await auth.signOut();
    expect(kept()).toEqual([]);
  });

  test("with storage in memory is signed out", async () => {
    await connect().auth.signUp(...person());
    await createAuthClient(running.url, { strategy: { kind: "token", sessionTokenStorage: "memory" } }).signUp(
      ...person(),
    );
    expect(connect().auth.getState().isAuthenticated).toBe(false);
    expect(localStorage.getItem("svc.session")).toBeNull();
  });

  test.for(["cookie", { kind: "cookies" }, {}])("is not promised a strategy that there is not: %j", (strategy) => {
    expect(() => createAuthClient(running.url, { strategy: strategy as { kind: "cookie" } })).toThrow(/kind: "cookie"/);
  });
});

describe("signing out", () => {
  test("while a refresh is under way stays signed out", async () => {
    const { auth, client } = connect();
    await auth.signUp(...person());
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
    const call = client.query(api.notes.list).catch((error: unknown) => error);
    await auth.signOut();
    await call;
    expect(auth.getState()).toEqual({ token: null, user: null, isAuthenticated: false });
  });

  test("forgets the session although the service cannot be told", async () => {
    const { auth, counter } = connect();
    await auth.signUp(...person());
    counter.fetch = () => Promise.reject(new TypeError("offline"));
    await auth.signOut().catch(() => {});
    expect(auth.getState().isAuthenticated).toBe(false);
  });
});

describe("a social sign-in", () => {
  const page = "https://app.example.com/done?keep=1";

  /** A browser on a page. @returns the URL that it was sent to */
  function visit(href: string): { sent: URL | null } {
    const state: { sent: URL | null } = { sent: null };
    const { search } = new URL(href);
    vi.stubGlobal("location", { href, search, assign: (to: string) => (state.sent = new URL(to, href)) });
    return state;
  }
  function client() {
    const codes: string[] = [];
    const fetch: typeof globalThis.fetch = async (_input, init) => {
      codes.push(JSON.parse(String(init?.body)).code);
      return new Response('{"error":"used","code":"UNAUTHORIZED","requestId":"1"}', { status: 401 });
    };
    return { auth: createAuthClient(running.url, { fetch }), codes };
  }
  beforeEach(() => vi.stubGlobal("localStorage", browserStorage()));

  /** Begins a sign-in, and returns as after the service's redirect. */
  async function beginAndReturn(code: string): Promise<void> {
    const { sent } = await (async () => {
      const state = visit(page);
      await client().auth.signInSocial("google");
      return state;
    })();
    const callback = new URL(sent?.searchParams.get("callbackURL") ?? "");
    expect(callback.searchParams.get("keep")).toBe("1");
    callback.searchParams.set("code", code);
    visit(callback.href);
  }

  test("is completed in the browser that began it, once, also on a page over plain HTTP", async () => {
    vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) }); // has no more there
    await beginAndReturn("first");
    const { auth, codes } = client();
    await expect(auth.completeSocialSignIn()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(codes).toEqual(["first"]);
    await expect(auth.completeSocialSignIn()).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(codes).toEqual(["first"]);
  });

  test("by way of a bridge leads to its endpoints, and back to the page that completes it", async () => {
    const state = visit(page);
    const authBridge = { basePath: "/bridge", oauthCallbackPath: "/signed-in" };
    await createAuthClient(running.url, { authBridge }).signInSocial("google");
    expect(state.sent?.href).toMatch(/^https:\/\/app\.example\.com\/bridge\/sign-in\/social\/redirect\?/);
    expect(state.sent?.searchParams.get("callbackURL")).toMatch(/^https:\/\/app\.example\.com\/signed-in\?/);
  });

  test("that somebody else's link brings is none, and its code is not sent", async () => {
    await beginAndReturn("mine");
    for (const link of [`${page}&code=theirs`, `${page}&code=theirs&svc_flow=guessed`]) {
      visit(link);
      const { auth, codes } = client();
      await expect(auth.completeSocialSignIn()).rejects.toMatchObject({ code: "FORBIDDEN" });
      await expect(auth.completeSocialSignIn("theirs")).rejects.toMatchObject({ code: "FORBIDDEN" });
      expect(codes).toEqual([]);
    }
  });
});

describe("cookie mode", () => {
  /** As a browser: keeps and sends cookies only for `include`, and sends the page's origin. */
  function browser(origin = running.url) {
    let cookie = "";
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const isWith = init?.credentials === "include";
      const headers = { ...(init?.headers as Record<string, string>), origin, ...(isWith && cookie && { cookie }) };
      const response = await globalThis.fetch(input, { ...init, headers });
      const [set] = response.headers.getSetCookie();
      if (isWith && set) cookie = /Max-Age=0/.test(set) ? "" : (set.split(";")[0] ?? "");
      return response;
    };
    const open = () => {
      const auth = createAuthClient(running.url, { strategy: { kind: "cookie" }, fetch });
      return { auth, client: createSvcClient({ api, baseUrl: running.url, auth, fetch }) };
    };
    return { open, cookie: () => cookie };
  }

  test("signs up, calls, survives a reload and signs out, without a token in sight", async () => {
    vi.stubGlobal("localStorage", browserStorage());
    const { open, cookie } = browser();
    const { auth, client } = open();
    const user = await auth.signUp(...person());
    expect(cookie()).toMatch(/^authlib\.session_token=/);
    expect(kept()).toEqual(["svc.cookie"]); // a random number; the user is in memory alone
    expect(auth.getState()).toEqual({ token: null, user, isAuthenticated: true });
    const note = await client.mutate(api.notes.create, { title: "by cookie" });
    expect(await client.query(api.notes.get, { id: note.id })).toEqual(note);

    const reloaded = open();
    expect(reloaded.auth.getState().isAuthenticated).toBe(false);
    expect(await reloaded.auth.restore()).toEqual(user);
    expect(reloaded.auth.getState()).toEqual({ token: null, user, isAuthenticated: true });

    await reloaded.auth.signOut();
    expect(cookie()).toBe("");
    expect(await open().auth.restore()).toBeNull();
  });

  test("watches as the user too, where no browser sends the cookie along with the socket", async () => {
    const { auth, client } = browser().open();
    const seen = { totals: [] as number[], errors: [] as unknown[] };
    const watch = () =>
      client.watch(
        api.notes.list,
        {},
        ({ total }) => seen.totals.push(total),
        (error) => seen.errors.push(error),
      );
    watch()(); // as nobody: the socket of a page on which nobody has signed in yet
    const { id } = await auth.signUp(...person());
    watch();
    await expect.poll(() => [client.realtime.getStatus(), seen.totals.at(-1)]).toEqual(["live", 0]);
    await db.sql("insert into notes (user_id, title) values ($1, 'from elsewhere')", [id]);
    await expect.poll(() => seen.totals.at(-1)).toBe(1);
    expect(seen.errors).toEqual([]);
    client.close();
  });

  test("calls go out without a user too, and a 401 shows that there is none", async () => {
    const { open } = browser();
    const { auth, client } = open();
    await auth.signUp(...person());
    await db.sql("delete from auth.session");
    await expect(client.query(api.notes.list)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(auth.getState().user).toBeNull();
  });

  test("a page of another origin can neither sign in nor write", async () => {
    const { open, cookie } = browser("https://evil.test");
    const error = await open()
      .auth.signUp(...person())
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SvcError);
    expect(error).toMatchObject({ code: "FORBIDDEN", hint: expect.stringContaining("frontendOrigins") });
    expect(cookie()).toBe("");
  });
});
