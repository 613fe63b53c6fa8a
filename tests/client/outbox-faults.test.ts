// If this file fails, bad networks, ended processes or a second tab make the outbox lose a mutation, save it twice, or stop.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createCollection } from "@tanstack/db";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { svcCollectionOptions } from "../../client/tanstack-db/src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import type { Fault } from "../support/flaky-proxy.ts";
import { Device, note, type OfflinePage, offlinePage, own, person } from "../support/offline-page.ts";
import { apiWith, secret, service } from "../support/service.ts";

const db = database();
const large = procedure.mutation
  .name("large.create")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context, input: { title } }) => {
    const { user } = context.auth.requireAuth();
    await context.db.insert(schema.notes).values({ title, userId: user.id });
    return "x".repeat(1_100_000);
  });
/** Answers with the row that it has inserted, which is large. */
const append = procedure.mutation
  .name("large.append")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context, input: { title } }) => {
    const { user } = context.auth.requireAuth();
    const [made] = await context.db.insert(schema.notes).values({ title, userId: user.id }).returning();
    return { ...made, text: "x".repeat(1_100_000) };
  });
const running = service(db, apiWith({ procedures: { large, append } }));
const stored = async (user: string) =>
  (await db.sql("select title from notes where user_id = $1 order by id", [user])).map(({ title }) => title);
const pick = <T>(list: readonly T[]) => list[Math.floor(Math.random() * list.length)] as T;
const faults: Fault[] = [
  { kind: "refuse" },
  { kind: "cut", after: 5 },
  { kind: "cut", after: 200 },
  { kind: "swallow" },
  { kind: "delay", ms: 20 },
];

test("on a network that breaks all the time every mutation is saved once, in its order", async () => {
  const device = new Device();
  device.before = () => new Promise((done) => setTimeout(done, Math.random() * 10));
  let page: OfflinePage = await offlinePage(running.url, { device });
  const { id } = await page.auth.signUp(...person());
  const impatient = { timeoutMs: 1_000 }; // with answers that never come
  page = await page.reload({ auth: impatient, client: impatient });
  /** What the device has said that it keeps. */
  const kept = new Set<string>();
  const keeps = (change: ReturnType<OfflinePage["rename"]>, title: string) =>
    void change.when("settled").then(() => kept.add(title));
  page.network.fault = () => (Math.random() < 0.5 ? pick(faults) : { kind: "none" });
  for (let at = 1; at <= 30; at++) {
    keeps(page.notes.insert(note(String(at))), String(at));
    if (at % 3 === 0) keeps(page.rename(String(at), `${at}, changed`), `${at}, changed`);
    if (at % 4 === 0) page.network.breakSome(0.5);
    if (at % 6 === 0) page = await page.reload(); // also while it is being kept or sent
    await new Promise((done) => setTimeout(done, Math.random() * 60));
  }
  page.online();
  await expect.poll(() => kept.has("30, changed")).toBe(true);
  await expect.poll(() => device.keys("outbox/")).toEqual([]); // a page knows what waits once it has read it
  await expect.poll(page.outbox.pending).toEqual([]);
  const titles = await stored(id);
  const numbers = titles.map((title) => Number.parseInt(title, 10));
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  const isSaved = (title: string) => titles.includes(title) || titles.includes(`${title}, changed`);
  expect([...kept].filter((title) => !isSaved(title))).toEqual([]);
  await expect.poll(page.titles).toEqual([...titles].sort());
  expect(page.refused).toEqual([]);
  expect(page.device.keys("outbox/")).toEqual([]);
});

test("a second outbox on the same storage sends nothing twice, and shows what the first one does", async () => {
  const device = new Device();
  device.name = crypto.randomUUID();
  const one = await offlinePage(running.url, { device });
  const { id } = await one.auth.signUp(...person());
  const two = await offlinePage(running.url, { device });
  await Promise.all([one.notes.preload(), two.notes.preload()]);
  let sent = 0;
  for (const page of [one, two]) page.offline();
  for (const title of ["a", "b"]) one.notes.insert(note(title));
  await expect.poll(two.titles).toEqual(["a", "b"]);
  two.notes.insert(note("c"));
  two.notes.insert(note("bad\0"));
  await expect.poll(() => one.outbox.pending().length).toBe(4);
  for (const page of [one, two]) {
    page.network.fault = () => {
      sent++;
      return { kind: "none" };
    };
  }
  for (const page of [one, two]) {
    await expect.poll(page.titles).toEqual(["a", "b", "c"]);
    await expect.poll(page.outbox.pending).toEqual([]);
    await expect.poll(() => page.refused).toMatchObject([{ row: { title: "bad\0" } }]);
  }
  expect([one, two].flatMap(({ refused }) => refused.map(({ isSender }) => isSender)).sort()).toEqual([false, true]);
  expect(await stored(id)).toEqual(["a", "b", "c"]);
  expect(sent).toBeGreaterThan(0);
});

test("without Web Locks, two tabs that send one mutation tell its refusal once each, and one is the sender", async () => {
  vi.stubGlobal("navigator", {}); // as on a page without https
  onTestFinished(() => void vi.unstubAllGlobals());
  const device = new Device();
  device.name = crypto.randomUUID();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answered: [number, number] = [0, 0];
  const slow = (at: 0 | 1) => async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const response = await fetch(input, init);
    if (!String(input).endsWith("/api/mutation")) return response;
    answered[at]++;
    await gates[at]?.promise;
    return response;
  };
  const one = await offlinePage(running.url, { device, client: { fetch: slow(0) } });
  const { id } = await one.auth.signUp(...person());
  const two = await offlinePage(running.url, { device, client: { fetch: slow(1) } });
  await Promise.all([one.notes.preload(), two.notes.preload()]);
  one.notes.insert(note("bad\0"));
  await expect.poll(() => answered).toEqual([1, 1]);
  gates[0]?.resolve();
  await expect.poll(() => two.refused.length).toBe(1);
  gates[1]?.resolve();
  two.notes.insert(note("next"));
  await expect.poll(() => stored(id)).toEqual(["next"]);
  await expect.poll(two.outbox.pending).toEqual([]);
  expect([one, two].map(({ refused }) => refused.map(({ isSender }) => isSender))).toEqual([[true], [false]]);
});

/** Notes whose insertion answers with more than the service keeps. @param insert its operation */
const largeNotes = ({ client, outbox }: OfflinePage, insert: string) =>
  createCollection(
    svcCollectionOptions({
      ...{ client, outbox, id: "large" },
      query: api.notes.list,
      getKey: ({ id }) => id,
      insert: { mutation: own<{ title: string }>(insert), args: ({ row: { title } }) => ({ title }) },
      update: api.notes.update,
      remove: api.notes.remove,
    }),
  );

test("a mutation whose lost answer is too large to be sent again counts as saved", async () => {
  let calls = 0;
  const losing: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (String(input).endsWith("/api/mutation") && calls++ === 0) throw new TypeError("fetch failed");
    return response;
  };
  const page = await offlinePage(running.url, { client: { fetch: losing } });
  const { id } = await page.auth.signUp(...person());
  const notes = largeNotes(page, "large.create");
  await notes.preload();
  notes.insert(note("once"));
  await expect.poll(page.outbox.pending).toEqual([]);
  expect(calls).toBe(2);
  expect(page.refused).toEqual([]);
  expect(await stored(id)).toEqual(["once"]);
  await expect.poll(() => notes.toArray.map((row) => [row.title, row.id > 0])).toEqual([["once", true]]);
});

test("a row whose lost answer is too large to be sent again gets the changes that were made behind it", async () => {
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  const losing: typeof fetch = async (input, init) => {
    if (!String(input).endsWith("/api/mutation")) return fetch(input, init);
    await changed;
    const response = await fetch(input, init);
    if (calls++ === 0) throw new TypeError("fetch failed");
    return response;
  };
  const page = await offlinePage(running.url, { client: { fetch: losing } });
  const { id } = await page.auth.signUp(...person());
  const notes = largeNotes(page, "large.append");
  await notes.preload();
  const shown: string[][] = [];
  notes.subscribeChanges(() => shown.push(notes.toArray.map(({ title }) => title)));
  const [made, gone] = [note("first"), note("gone")];
  notes.insert(made);
  notes.insert(gone);
  for (const title of ["second", "third"])
    notes.update(made.id, (draft) => {
      draft.title = title;
    });
  notes.delete(gone.id);
  resolve();
  await expect.poll(page.outbox.pending).toEqual([]);
  expect(page.refused).toEqual([]);
  expect(await stored(id)).toEqual(["third"]);
  await expect.poll(() => notes.toArray.map((row) => [row.title, row.id > 0])).toEqual([["third", true]]);
  expect(shown.slice(shown.findIndex(([title]) => title === "third")).every(([title]) => title === "third")).toBe(true);
});

test("the service is killed again and again while it is sent to", async () => {
  const children: ChildProcess[] = [];
  onTestFinished(() => children.forEach((child) => void child.kill("SIGKILL")));
  const folder = bytesFolder();
  const start = async () => {
    const child = fork(join(import.meta.dirname, "../support/service-child.ts"), [
      JSON.stringify(db.urls),
      folder,
      secret,
    ]);
    children.push(child);
    const [url] = await once(child, "message");
    page.network.retarget(url);
    return child;
  };
  const page = await offlinePage(running.url);
  const { id } = await page.auth.signUp(...person());
  await page.notes.preload();
  let child = await start();
  page.network.breakAll();
  const titles = Array.from({ length: 60 }, (_, at) => `note ${at}`);
  for (const title of titles) page.notes.insert(note(title));
  for (let kill = 1; kill <= 2; kill++) {
    await expect.poll(async () => (await stored(id)).length).toBeGreaterThan(kill * 10);
    child.kill("SIGKILL");
    child = await start();
  }
  await expect.poll(() => stored(id)).toEqual(titles);
  await expect.poll(page.outbox.pending).toEqual([]);
  await expect.poll(page.titles).toEqual([...titles].sort());
  expect(page.refused).toEqual([]);
});
