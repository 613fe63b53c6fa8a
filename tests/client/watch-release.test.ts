// If this file fails, a page of a new release shows an error until it is reloaded: a process of the old one has answered it.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const running = service(database());

test("a query that the process does not have is asked for again, until a newer process answers", async () => {
  let isOld = true;
  const fetch: typeof globalThis.fetch = (input, init) => {
    if (!isOld || !String(input).endsWith("/api/query")) return globalThis.fetch(input, init);
    const body = JSON.stringify({ ...JSON.parse(String(init?.body)), name: "notes.yetToCome" });
    return globalThis.fetch(input, { ...init, body });
  };
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl: running.url, auth, fetch });
  try {
    await auth.signUp("release@example.com", "correct horse", "Ann");
    const results: unknown[] = [];
    const errors: { status: number }[] = [];
    client.watch(
      api.notes.list,
      {},
      (result) => results.push(result),
      (error) => errors.push(error as never),
    );
    await expect.poll(() => errors[0]?.status).toBe(404);
    await expect.poll(() => client.realtime.getStatus()).toBe("live");
    // The socket makes the page ask once more when it is there. After that nothing else would.
    const isQuiet = async () => {
      const { length } = errors;
      await sleep(500);
      return errors.length === length;
    };
    await expect.poll(isQuiet, { timeout: 30_000 }).toBe(true);
    isOld = false;
    await expect.poll(() => results.length).toBeGreaterThan(0);
  } finally {
    client.close();
    auth.close();
  }
});
