// If this file fails, a sign-in or sign-out does not reach the other tabs of the browser.
import { afterEach, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const running = service(database());
afterEach(() => vi.unstubAllGlobals());

/** The localStorage of several tabs. The others get the writes of a tab one by one, each with its event. */
function storageOfTabs() {
  const items = new Map<string, string>();
  const listeners: ((event: { key: string }) => void)[] = [];
  const write = (key: string, run: () => void) => {
    run();
    for (const listener of listeners) listener({ key });
  };
  vi.stubGlobal("addEventListener", (_: string, listener: (typeof listeners)[number]) => listeners.push(listener));
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => write(key, () => items.set(key, value)),
    removeItem: (key: string) => write(key, () => items.delete(key)),
  });
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
