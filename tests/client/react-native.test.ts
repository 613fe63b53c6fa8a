// If this file fails, an app of React Native cannot use the SDK, or its users sign in again at each start of the app.
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { createAuthClient, createSvcClient, loadStorage } from "../../client/sdk/src/index.ts";
import { createOutbox } from "../../client/tanstack-db/src/index.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const running = service(database());

// The first `watch` threw "DOMException doesn't exist", uploads and routes "ReadableStream doesn't exist", and with React
// Native 0.86 every call "throwIfAborted is not a function".
test("calls, watches, uploads and stays signed in with the globals of React Native", async () => {
  const app = new Worker(join(import.meta.dirname, "react-native-child.ts"), { workerData: { url: running.url } });
  const [seen] = await once(app, "message");
  expect(seen).toEqual({
    shown: [0, 1],
    uploaded: "string",
    parts: 1,
    failures: { late: "TIMEOUT", left: "AbortError" },
    found: 1,
    stored: [],
  });
  await app.terminate();
});

test("a storage that refuses a session keeps none, and not that of the user before", async () => {
  const stored = new Map([["svc.session", "of the user before"]]);
  const storage = await loadStorage({
    getItem: async (key) => stored.get(key) ?? null,
    setItem: async () => {
      throw new Error("The storage is full.");
    },
    removeItem: async (key) => stored.delete(key),
  });
  storage.setItem("svc.session", "mine");
  expect(storage.getItem("svc.session")).toBe("mine");
  await expect.poll(() => stored.size).toBe(0);
});

// `tasks.insert` threw an error with the number 171 in a built app, or "No secure random number generator available".
test("an outbox says at once that random numbers are missing, and how to add them", () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  const client = createSvcClient({ api: {}, baseUrl: running.url, auth: createAuthClient(running.url) });
  const storage = { read: async () => [], write: async () => {}, remove: async () => {} };
  for (const crypto of [undefined, {}]) {
    vi.stubGlobal("crypto", crypto);
    expect(() => createOutbox(client, { storage })).toThrow(/crypto\.getRandomValues.*expo-crypto/);
  }
  // As react-native-get-random-values sets it.
  vi.stubGlobal("crypto", { getRandomValues: (array: Uint8Array) => array });
  createOutbox(client, { storage }).close();
});
