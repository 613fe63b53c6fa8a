// If this file fails, a mutation that was made without a connection is lost, saved twice, or saved for somebody else.
import { createCollection } from "@tanstack/db";
import { expect, onTestFinished, test } from "vitest";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import {
  createOutbox,
  type RefusedMutation,
  svcCollectionOptions,
  temporaryKey,
} from "../../client/tanstack-db/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { Device } from "../support/outbox-storage.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);
const person = () => [`${crypto.randomUUID()}@example.com`, "correct horse", "Ann"] as const;

/** A page on a device with a network of its own. */
async function page({
  device = new Device(),
  items = new Map<string, string>(),
  network = undefined as FlakyProxy | undefined,
} = {}) {
  const proxy = network ?? (await FlakyProxy.start(running.url));
  const sessionTokenStorage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
  const auth = createAuthClient(proxy.url, { sessionTokenStorage, timeoutMs: 5_000 });
  const client = createSvcClient({ api, baseUrl: proxy.url, auth, timeoutMs: 5_000 });
  const refused: RefusedMutation[] = [];
  const outbox = createOutbox(client, { storage: device, onRefused: (each) => refused.push(each) });
  const notes = createCollection(
    svcCollectionOptions({
      client,
      outbox,
      query: api.notes.list,
      args: { limit: 100 },
      getKey: ({ id }) => id,
      insert: api.notes.create,
      update: api.notes.update,
      remove: api.notes.remove,
      keepRows: true,
    }),
  );
  const close = () => {
    outbox.close();
    client.close();
  };
  onTestFinished(async () => {
    close();
    await proxy.stop();
  });
  return {
    ...{ auth, client, outbox, notes, refused, device, items, proxy, close },
    titles: () => [...notes.values()].map(({ title }) => title).sort(),
    offline: () => {
      proxy.fault = () => ({ kind: "refuse" });
      proxy.breakSome(1);
    },
    online: () => {
      proxy.fault = () => ({ kind: "none" });
    },
    /** The same device, later. */
    reload: () => {
      close();
      return page({ device, items, network: proxy });
    },
  };
}

const note = (title: string) => ({
  ...{ id: temporaryKey(), title, userId: "", done: false, priority: 0 },
  ...{ createdAt: new Date(), updatedAt: new Date() },
});
const stored = async (userId: string) =>
  (await db.sql("select title from notes where user_id = $1 order by id", [userId])).map(({ title }) => title);

test("what is inserted is shown at once, and saved", async () => {
  const { auth, notes, titles, outbox, device } = await page();
  const { id } = await auth.signUp(...person());
  await notes.preload();
  const seen: string[] = [];
  notes.subscribeChanges((changes) => seen.push(...changes.map(({ type, value }) => `${type} ${value.title}`)));
  const inserted = note("first");
  notes.insert(inserted);
  expect(titles()).toEqual(["first"]);
  await expect.poll(() => stored(id)).toEqual(["first"]);
  await expect.poll(() => [...notes.keys()].some((key) => key > 0)).toBe(true);
  await expect.poll(outbox.pending).toEqual([]);
  expect(notes.has(inserted.id)).toBe(false);
  expect(titles()).toEqual(["first"]);
  expect(device.keys("outbox/")).toEqual([]);
});

test("without a connection", async () => {
  const first = await page();
  const { id } = await first.auth.signUp(...person());
  await first.client.mutate(api.notes.create, { title: "old" });
  await first.notes.preload();
  await expect.poll(first.titles).toEqual(["old"]);
  first.offline();
  const inserted = note("new");
  first.notes.insert(inserted);
  first.notes.update(inserted.id, (draft) => {
    draft.title = "newer";
  });
  const old = [...first.notes.values()].find(({ title }) => title === "old")?.id as number;
  first.notes.update(old, (draft) => {
    draft.title = "old, changed";
  });
  first.notes.update(old, (draft) => {
    draft.done = true;
  });
  expect(first.titles()).toEqual(["newer", "old, changed"]);
  await expect.poll(() => first.device.keys("outbox/").length).toBe(4);
  expect(await stored(id)).toEqual(["old"]);
  const second = await first.reload();
  second.notes.startSyncImmediate();
  await expect.poll(second.titles).toEqual(["newer", "old, changed"]);
  second.online();
  await expect.poll(() => stored(id)).toEqual(["old, changed", "newer"]);
  await expect.poll(second.outbox.pending).toEqual([]);
  await expect.poll(second.titles).toEqual(["newer", "old, changed"]);
  expect(second.refused).toEqual([]);
});
