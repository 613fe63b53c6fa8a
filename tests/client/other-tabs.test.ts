// If this file fails, a sign-in or sign-out does not reach the other tabs of the browser.
import { afterEach, expect, test, vi } from "vitest";
import { type AuthClientOptions, createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { bridgedFront } from "../support/bridged-front.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);
const front = bridgedFront(db);
afterEach(() => vi.unstubAllGlobals());

/**
 * The localStorage of several tabs. They get the writes one by one, each with its event if the value is another one.
 *
 * @returns `whileCached`: what it runs happens while they are in the back/forward cache, where they hear of nothing
 */
function storageOfTabs() {
  const items = new Map<string, string>();
  const listeners: ((event: { key: string }) => void)[] = [];
  const shown: ((event: { persisted: boolean }) => void)[] = [];
  let cached = false;
  const write = (key: string, run: () => void) => {
    const before = items.get(key);
    run();
    if (cached || items.get(key) === before) return;
    for (const listener of listeners) listener({ key });
  };
  vi.stubGlobal("addEventListener", (name: string, listener: never) =>
    (name === "storage" ? listeners : shown).push(listener),
  );
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => write(key, () => items.set(key, value)),
    removeItem: (key: string) => write(key, () => items.delete(key)),
  });
  return {
    async whileCached(run: () => Promise<unknown>) {
      cached = true;
      await run();
      cached = false;
      for (const listener of shown) listener({ persisted: true });
    },
  };
}

test("follows what another tab does", async () => {
  storageOfTabs();
  const here = createAuthClient(running.url);
  const client = createSvcClient({ api, baseUrl: running.url, auth: here });
  const user = await here.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");

  const elsewhere = createAuthClient(running.url);
  await elsewhere.signOut();
  expect(here.getState().isAuthenticated).toBe(false);

  await elsewhere.signIn(user.email, "correct horse");
  expect(here.getState().user).toEqual(user);
  expect(await client.query(api.notes.list)).toEqual({ data: [], total: 0 });
  client.close();
});

test("of token mode: a page that comes back shows the user of now", async () => {
  const { whileCached } = storageOfTabs();
  const here = createAuthClient(running.url);
  const ann = await here.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  const elsewhere = createAuthClient(running.url);

  await whileCached(() => elsewhere.signOut());
  expect(here.getState()).toEqual({ isAuthenticated: false, user: null, token: null });

  await whileCached(() => elsewhere.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Bob"));
  expect(here.getState()).toMatchObject({ user: { name: "Bob" }, token: null });
  expect((await here.restore())?.id).not.toBe(ann.id);
});

/** Tabs of one browser, whose session is in a cookie that no script can read. */
const byCookie = {
  "cookie mode": () => {
    let cookie = "";
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const headers = { ...(init?.headers as Record<string, string>), origin: running.url, ...(cookie && { cookie }) };
      const response = await globalThis.fetch(input, { ...init, headers });
      for (const set of response.headers.getSetCookie())
        cookie = /Max-Age=0/.test(set) ? "" : (set.split(";")[0] ?? "");
      return response;
    };
    return () => open(running.url, { strategy: { kind: "cookie" }, fetch });
  },
  "a bridge": () => {
    const { fetch } = front.tab();
    return () => open(front.service.url, { authBridge: {}, fetch });
  },
};
function open(baseUrl: string, options: Required<Pick<AuthClientOptions, "fetch">> & AuthClientOptions) {
  const auth = createAuthClient(baseUrl, options);
  return { auth, client: createSvcClient({ api, baseUrl, auth, fetch: options.fetch }) };
}

test.for(Object.entries(byCookie))("of %s: no tab shows one user and calls as another", async ([, browser]) => {
  storageOfTabs();
  const tab = browser();
  const here = tab();
  const [ann, bob] = ["Ann", "Bob"].map(
    (name) => [`${crypto.randomUUID()}@example.com`, "correct horse", name] as const,
  );
  await here.auth.signUp(...(ann as NonNullable<typeof ann>));
  const shown: string[][] = [];
  here.client.watch(api.notes.list, {}, ({ data }) => shown.push(data.map(({ title }) => title)));
  await here.client.mutate(api.notes.create, { title: "of Ann" });
  await expect.poll(() => shown.at(-1)).toEqual(["of Ann"]);

  const elsewhere = tab();
  await elsewhere.auth.restore();
  await elsewhere.auth.signOut();
  await expect.poll(() => here.auth.getState().user).toBeNull();

  await elsewhere.auth.signUp(...(bob as NonNullable<typeof bob>));
  await expect.poll(() => here.auth.getState().user?.name).toBe("Bob");
  await expect.poll(() => shown.at(-1)).toEqual([]);
  here.client.close();
});

test.for(Object.entries(byCookie))("of %s: a page that comes back shows the user of now", async ([, browser]) => {
  const { whileCached } = storageOfTabs();
  const tab = browser();
  const [{ auth: here }, { auth: elsewhere }] = [tab(), tab()];
  await here.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  await elsewhere.restore();

  await whileCached(() => elsewhere.signOut());
  await expect.poll(() => here.getState().user).toBeNull();

  await whileCached(() => elsewhere.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Bob"));
  await expect.poll(() => here.getState().user?.name).toBe("Bob");
});
