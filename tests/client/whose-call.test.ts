// If this file fails, what one user writes may be saved in the name of the user who signs in next.
import { afterEach, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);
afterEach(() => void vi.useRealTimers());
const person = () => [`${crypto.randomUUID()}@example.com`, "correct horse", "Ann"] as const;

test("a call that waits for a fresh JWT is not sent as the user who signs in meanwhile", async () => {
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (String(input).endsWith("/token")) {
      asked();
      await gate;
    }
    return globalThis.fetch(input, init);
  };
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory", fetch });
  const client = createSvcClient({ api, baseUrl: running.url, auth });
  await auth.signUp(...person());
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
  const write = client.mutate(api.notes.create, { title: "of Ann" });
  const route = client.fetch("/api/storage/uploads", { method: "POST" });
  const ended = Promise.allSettled([write, route]);
  await isAsked;
  await auth.signUp(...person());
  release();
  for (const { status, ...end } of await ended) {
    expect([status, end]).toMatchObject(["rejected", { reason: { code: "UNAUTHORIZED" } }]);
  }
  expect(await client.query(api.notes.list)).toEqual({ data: [], total: 0 });
});

test("a mutation that is repeated is not sent as the user who signs in meanwhile", async () => {
  let failures = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (!String(input).endsWith("/mutation") || failures++ > 0) return globalThis.fetch(input, init);
    await auth.signUp(...person());
    throw new TypeError("fetch failed");
  };
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl: running.url, auth, fetch });
  await auth.signUp(...person());
  const write = client.mutate(api.notes.create, { title: "of Ann" }, { retries: 2 });
  await expect(write).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  expect(await client.query(api.notes.list)).toEqual({ data: [], total: 0 });
});

test("an upload is not begun as the user who signs in while it is retried", async () => {
  let failures = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (!String(input).endsWith("/uploads") || failures++ > 0) return globalThis.fetch(input, init);
    await auth.signUp(...person());
    throw new TypeError("fetch failed");
  };
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl: running.url, auth, fetch });
  await auth.signUp(...person());
  await expect(client.upload(new File(["of Ann"], "ann.txt"))).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  expect(await db.sql("select 1 from svc.storage_objects")).toEqual([]);
});
