// If this file fails, a page whose localStorage is full signs its user out, or fails to sign one in.
import { afterEach, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The browser's localStorage. @returns the items that it has kept, and a function that fills it up */
function browserStorage() {
  const items = new Map<string, string>();
  let isFull = false;
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => items.get(key) ?? null,
    removeItem: (key: string) => items.delete(key),
    setItem(key: string, value: string) {
      if (isFull) throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
      items.set(key, value);
    },
  });
  const fill = () => {
    isFull = true;
  };
  return { items, fill };
}

test("a full localStorage gives the session that it has, and a new one stays in memory", async () => {
  const { items, fill } = browserStorage();
  const person = () => [`${crypto.randomUUID()}@example.com`, "correct horse", "Ann"] as const;
  const before = await createAuthClient(running.url).signUp(...person());
  fill();
  const auth = createAuthClient(running.url);
  expect(auth.getState().user).toEqual(before);

  const user = await auth.signUp(...person());
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
  const client = createSvcClient({ api, baseUrl: running.url, auth });
  expect(await client.query(api.notes.list)).toEqual({ data: [], total: 0 }); // with a new JWT
  expect(auth.getState().user).toEqual(user);
  expect([...items.keys()]).toEqual([]); // nor is the session of the user before left
});
