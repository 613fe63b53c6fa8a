// If this file fails, one broken item on the device stops all others, or what a user has dropped is sent.
import { createCollection } from "@tanstack/db";
import { expect, onTestFinished, test } from "vitest";
import { svcCollectionOptions } from "../../client/tanstack-db/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { Device, note, offlinePage, own, person } from "../support/offline-page.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);
const stored = async (user: string) =>
  (await db.sql("select title from notes where user_id = $1 order by id", [user])).map(({ title }) => title);

test("an item on the device that cannot be read stops no other one, and stays until it is discarded", async () => {
  const first = await offlinePage(running.url);
  const { id } = await first.auth.signUp(...person());
  await first.notes.preload();
  first.offline();
  await first.notes.insert(note("whole")).when("settled");
  const { items } = first.device;
  const [whole] = [...items.values()];
  const broken = [
    "",
    "{",
    "null",
    "[]",
    "{}",
    `${whole}x`,
    JSON.stringify({ ...JSON.parse(whole ?? ""), id: "000000000000006-x", row: "{" }),
  ];
  for (const [at, text] of broken.entries()) items.set(`outbox/${id}/00000000000000${at}-x`, text);
  const second = await first.reload();
  await expect.poll(second.titles).toEqual(["whole"]);
  second.online();
  await expect.poll(() => stored(id)).toEqual(["whole"]);
  await expect.poll(second.outbox.pending).toEqual([]);
  await expect.poll(() => second.device.keys("outbox/")).toHaveLength(broken.length);
  await second.outbox.discard();
  expect(second.device.keys("outbox/")).toEqual([]);
});

test("a mutation that is discarded while it is sent is not kept for another try", async () => {
  let calls = 0;
  const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>();
  const busy: typeof fetch = async (input, init) => {
    if (!String(input).endsWith("/api/mutation")) return fetch(input, init);
    calls++;
    await isAnswered;
    return new Response(JSON.stringify({ error: "Too many.", code: "RATE_LIMITED" }), { status: 429 });
  };
  const page = await offlinePage(running.url, { client: { fetch: busy } });
  await page.auth.signUp(...person());
  await page.notes.preload();
  page.notes.insert(note("dropped"));
  await expect.poll(() => calls).toBe(1);
  await page.outbox.discard();
  answer();
  page.notes.insert(note("next"));
  await expect.poll(() => page.outbox.pending().map(({ row }) => row.title)).toEqual(["next"]);
  await expect.poll(() => calls).toBeGreaterThan(1);
  const titles = () => [...page.device.items.values()].map((text) => JSON.parse(JSON.parse(text).row).json.title);
  await expect.poll(titles).toEqual(["next"]);
});

test("a mutation that is discarded just before it is sent is not sent", async () => {
  const page = await offlinePage(running.url);
  const { id } = await page.auth.signUp(...person());
  await page.notes.preload();
  page.offline();
  await page.notes.insert(note("dropped")).when("settled");
  const { promise: isDropped, resolve: dropped } = Promise.withResolvers<void>();
  const { promise: isMarking, resolve: marking } = Promise.withResolvers<void>();
  const credentials = page.client.auth?.["~svc"].credentials;
  if (!page.client.auth || !credentials) throw new Error("There is no auth.");
  page.client.auth["~svc"].credentials = async (signal) => {
    marking();
    await isDropped;
    return credentials(signal);
  };
  page.online();
  await isMarking;
  await page.outbox.discard();
  dropped();
  page.notes.insert(note("next"));
  await expect.poll(() => stored(id)).toEqual(["next"]);
  await expect.poll(() => page.device.keys("outbox/")).toEqual([]);
  expect(await stored(id)).toEqual(["next"]);
});

test("a change of a new row that another page has saved meanwhile names the row by its key", async () => {
  const device = new Device(); // without a name: pages tell each other nothing
  const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>();
  let calls = 0;
  const slow: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (String(input).endsWith("/api/mutation") && calls++ === 0) await isAnswered;
    return response;
  };
  const one = await offlinePage(running.url, { device, client: { fetch: slow } });
  const { id } = await one.auth.signUp(...person());
  await one.notes.preload();
  one.notes.insert(note("new"));
  one.rename("new", "changed");
  await expect.poll(() => [calls, device.keys("outbox/").length]).toEqual([1, 2]);

  const two = await offlinePage(running.url, { device });
  const auth = two.client.auth?.["~svc"];
  if (!auth) throw new Error("There is no auth.");
  const { credentials } = auth;
  const { promise: isSaved, resolve: saved } = Promise.withResolvers<void>();
  const { promise: isSending, resolve: sending } = Promise.withResolvers<void>();
  auth.credentials = async (signal) => {
    if (two.outbox.pending().length > 0) {
      sending();
      await isSaved;
    }
    return credentials(signal);
  };
  await isSending;
  one.close();
  answer();
  await expect.poll(() => device.keys("outbox/").length).toBe(1);
  saved();
  await expect.poll(() => device.keys("outbox/")).toEqual([]);
  expect(two.refused).toEqual([]);
  expect(await stored(id)).toEqual(["changed"]);
});

test("a listener that throws loses nothing, and stops nothing", async () => {
  const errors: unknown[] = [];
  const hear = (error: unknown) => void errors.push(error);
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", hear);
  onTestFinished(() => {
    process.removeAllListeners("unhandledRejection");
    for (const other of others) process.on("unhandledRejection", other);
  });
  const page = await offlinePage(running.url);
  const { id } = await page.auth.signUp(...person());
  await page.notes.preload();
  const end = page.outbox.subscribe(() => {
    throw new Error("of the application");
  });
  const first = page.notes.insert(note("first"));
  await first.when("settled");
  await expect.poll(() => stored(id)).toEqual(["first"]);
  await expect.poll(page.outbox.pending).toEqual([]);
  expect(errors.length).toBeGreaterThan(0);
  end();
});

test.for([
  ["", { on: "" }],
  ["1", { on: 1 }],
  ["new", { on: "new" }],
] as const)("a text as a key is replaced nowhere but in its row: %j", async ([key, value]) => {
  const page = await offlinePage(running.url);
  await page.auth.signUp(...person());
  const bodies: string[] = [];
  const answering: typeof fetch = async (input, init) => {
    if (!String(input).endsWith("/api/mutation")) return fetch(input, init);
    bodies.push(String(init?.body));
    return new Response(JSON.stringify({ json: { id: "given" } }), { headers: { "content-type": "application/json" } });
  };
  const again = await page.reload({ client: { fetch: answering } });
  const collection = (id: string) =>
    createCollection(
      svcCollectionOptions({
        ...{
          client: again.client,
          outbox: again.outbox,
          query: api.articles.list,
          id,
          getKey: ({ id }: { id: string }) => id,
        },
        insert: { mutation: own<object>("texts.create"), args: ({ row }) => row },
        startSync: true,
      }),
    );
  const [parents, others] = [collection("parents"), collection("others")];
  again.offline();
  parents.insert({ id: key } as never);
  await others.insert({ id: "other", ...value } as never).when("settled");
  again.online();
  await expect.poll(again.outbox.pending).toEqual([]);
  expect(bodies.map((body) => JSON.parse(body).args)).toEqual([
    expect.objectContaining({ id: key }),
    expect.objectContaining({ id: "other", ...value }),
  ]);
});

test("a proxy's page refuses nothing, and `Retry-After: 0` is no invitation to ask at once for ever", async () => {
  let calls = 0;
  const proxy: typeof fetch = async (input, init) => {
    if (!String(input).endsWith("/api/mutation") || calls++ >= 2) return fetch(input, init);
    return new Response("<h1>Not here</h1>", { status: 403 });
  };
  const page = await offlinePage(running.url, { client: { fetch: proxy } });
  const { id } = await page.auth.signUp(...person());
  await page.notes.preload();
  page.notes.insert(note("kept"));
  await expect.poll(() => stored(id)).toEqual(["kept"]);
  await expect.poll(page.outbox.pending).toEqual([]);
  expect([page.refused, calls]).toEqual([[], 3]);
});

test("a new row may be named by its temporary key after it was saved, also in a text", async () => {
  const page = await offlinePage(running.url);
  const { id } = await page.auth.signUp(...person());
  await page.notes.preload();
  const parent = note("parent");
  page.notes.insert(parent);
  await expect.poll(page.outbox.pending).toEqual([]);
  page.notes.insert({ ...note("child"), title: String(parent.id) }); // a form that was open before
  await expect.poll(() => stored(id)).toEqual(["parent", expect.stringMatching(/^\d+$/)]);
});
