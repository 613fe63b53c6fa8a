// If this file fails, a mutation that was made without a connection is lost, or saved twice, or shown after it was refused.
import { createCollection } from "@tanstack/db";
import { expect, test } from "vitest";
import { z } from "zod";
import { svcCollectionOptions } from "../../client/tanstack-db/src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { Device, note, offlinePage, own, person } from "../support/offline-page.ts";
import { apiWith, service } from "../support/service.ts";

const db = database();
/** Adds a note that names another one. */
const remark = procedure.mutation
  .name("remarks.create")
  .input(z.object({ on: z.number() }))
  .handler(async ({ context, input }) => {
    const { user } = context.auth.requireAuth();
    await context.db.insert(schema.notes).values({ title: `remark on ${input.on}`, userId: user.id });
  });
let failures = 0;
const broken = procedure.mutation.name("broken.create").handler(() => {
  failures++;
  throw new Error("always");
});
const running = service(db, apiWith({ procedures: { remark, broken } }));
const page = (...[options]: Parameters<typeof offlinePage> extends [string, ...infer Rest] ? Rest : never) =>
  offlinePage(running.url, options);

const stored = async (user: string) =>
  (await db.sql("select title from notes where user_id = $1 order by id", [user])).map(({ title }) => title);
const saved = (user: string) => expect.poll(() => stored(user));

test("what is changed is shown at once, without a flicker, and saved", async () => {
  const { auth, notes, titles, outbox, device, rename, idOf } = await page();
  const { id } = await auth.signUp(...person());
  await notes.preload();
  const seen: string[] = [];
  notes.subscribeChanges(() => seen.at(-1) !== titles().join() && seen.push(titles().join()));
  const inserted = note("a");
  notes.insert(inserted);
  expect(titles()).toEqual(["a"]);
  await saved(id).toEqual(["a"]);
  await expect.poll(() => notes.has(inserted.id)).toBe(false); // it has the service's key
  rename("a", "b");
  rename("b", "c");
  expect(titles()).toEqual(["c"]);
  await saved(id).toEqual(["c"]);
  await expect.poll(outbox.pending).toEqual([]);
  const [key] = [...notes.keys()];
  await expect.poll(() => notes.get(key as number)?.$synced).toBe(true);
  notes.delete(idOf("c"));
  expect(titles()).toEqual([]);
  await saved(id).toEqual([]);
  await expect.poll(outbox.pending).toEqual([]);
  expect(seen).toEqual(["a", "b", "c", ""]);
  expect(device.items).toEqual(new Map());
});

test("what was changed without a connection survives a reload, and is sent in order when there is one", async () => {
  const first = await page({ keepRows: true });
  const { id } = await first.auth.signUp(...person());
  await first.client.mutate(api.notes.create, { title: "old" });
  await expect.poll(first.titles).toEqual(["old"]);
  first.offline();
  first.notes.insert(note("new"));
  first.rename("new", "newer");
  first.rename("old", "older");
  first.rename("older", "oldest");
  const gone = first.notes.insert(note("gone"));
  first.notes.delete(first.idOf("gone"));
  await gone.when("settled"); // kept
  await expect.poll(() => first.device.keys("outbox/")).toHaveLength(6);
  expect(first.titles()).toEqual(["newer", "oldest"]);

  const second = await first.reload();
  await expect.poll(second.titles).toEqual(["newer", "oldest"]);
  expect(second.outbox.pending()).toMatchObject([
    { type: "insert", operation: "notes.create", row: { title: "new" } },
    { type: "update", row: { title: "newer" } },
    { type: "update", row: { title: "older" } },
    { type: "update", row: { title: "oldest" } },
    { type: "insert", row: { title: "gone" } },
    { type: "delete" },
  ]);
  expect(await stored(id)).toEqual(["old"]);
  second.online();
  await expect.poll(second.outbox.pending).toEqual([]);
  expect(await stored(id)).toEqual(["oldest", "newer"]);
  await expect.poll(second.titles).toEqual(["newer", "oldest"]);
  expect(second.refused).toEqual([]);
});

test("rows of another collection that name a new row name it by the key that it gets", async () => {
  const first = await page();
  const { id } = await first.auth.signUp(...person());
  await first.notes.preload();
  const remarks = createCollection(
    svcCollectionOptions({
      client: first.client,
      outbox: first.outbox,
      query: api.articles.list,
      id: "remarks",
      getKey: (row) => row.id,
      insert: { mutation: own<{ on: number }>("remarks.create"), args: ({ row }) => ({ on: Number(row.priority) }) },
    }),
  );
  await remarks.preload();
  first.offline();
  const inserted = note("parent");
  first.notes.insert(inserted);
  remarks.insert({ id: "r", priority: inserted.id } as never);
  await expect.poll(() => first.device.keys("outbox/")).toHaveLength(2);
  const second = await first.reload(); // without the collection of remarks
  second.online();
  await expect.poll(() => stored(id)).toEqual(["parent", expect.stringMatching(/^remark on \d+$/)]);
  const [parent] = await db.sql("select id from notes where user_id = $1 and title = 'parent'", [id]);
  expect(await stored(id)).toContain(`remark on ${parent?.id}`);
});

test("an answer that is lost leads to no second row, nor to a row that is shown twice", async () => {
  const { promise: isListed, resolve: listed } = Promise.withResolvers<void>();
  let calls = 0;
  const losing: typeof fetch = async (input, init) => {
    const isMutation = String(input).endsWith("/api/mutation");
    if (isMutation && calls++ === 1) await isListed; // what was saved is in the list before its answer comes
    const response = await fetch(input, init);
    if (isMutation && calls === 1) throw new TypeError("fetch failed");
    if (calls > 0 && String(input).endsWith("/api/query")) setTimeout(listed, 100);
    return response;
  };
  const { auth, notes, titles, outbox } = await page({ client: { fetch: losing } });
  const { id } = await auth.signUp(...person());
  await notes.preload();
  const seen = new Set<string>();
  notes.subscribeChanges(() => seen.add(titles().join()));
  notes.insert(note("once"));
  await isListed;
  await expect.poll(outbox.pending).toEqual([]);
  expect([calls, await stored(id)]).toEqual([2, ["once"]]);
  await expect.poll(() => [...notes.keys()].every((key) => key > 0)).toBe(true);
  expect([...seen]).toEqual(["once"]);
});

test("a refused mutation is taken back and told, and the next ones are saved", async () => {
  const { auth, notes, titles, offline, online, refused, rename } = await page();
  const { id } = await auth.signUp(...person());
  await notes.preload();
  offline();
  notes.insert(note("bad\0"));
  rename("bad\0", "bad too");
  notes.insert(note("good"));
  online();
  await saved(id).toEqual(["good"]);
  await expect.poll(titles).toEqual(["good"]);
  expect(refused).toMatchObject([
    { type: "insert", operation: "notes.create", row: { title: "bad\0" }, error: { code: "VALIDATION_FAILED" } },
    { type: "update", operation: "notes.update", error: { code: "VALIDATION_FAILED" } },
  ]);
});

test("after a conflict the service's row is shown, and told", async () => {
  const { auth, client, titles, offline, online, refused, rename, outbox, idOf } = await page();
  await auth.signUp(...person());
  const { id } = await client.mutate(api.notes.create, { title: "mine" });
  await expect.poll(titles).toEqual(["mine"]);
  offline();
  rename("mine", "mine, later");
  await db.sql("update notes set title = 'theirs', updated_at = now() + interval '1 s' where id = $1", [id]);
  online();
  await expect.poll(() => refused).toMatchObject([{ type: "update", key: id, error: { code: "CONFLICT" } }]);
  expect(refused).toMatchObject([{ row: { title: "mine, later" }, current: { title: "theirs" } }]);
  expect(titles()).toEqual(["theirs"]);
  rename("theirs", "ours"); // it has been seen now
  await expect.poll(outbox.pending).toEqual([]);
  await expect.poll(() => idOf("ours")).toBe(id);
  expect(refused).toHaveLength(1);
});

test("a mutation that always fails does not hold the next ones back for ever", async () => {
  const { auth, client, outbox, notes, refused } = await page();
  const { id } = await auth.signUp(...person());
  const options = { client, outbox, query: api.articles.list, id: "broken", getKey: (row: { id: string }) => row.id };
  const others = createCollection(svcCollectionOptions({ ...options, insert: own<object>("broken.create") }));
  await others.preload();
  others.insert({ id: "x" } as never);
  notes.insert(note("next"));
  await saved(id).toEqual(["next"]);
  expect(failures).toBe(5);
  expect(refused).toMatchObject([{ operation: "broken.create", error: { code: "INTERNAL" } }]);
});

test("after days, what was never sent is sent; what may have been saved under a forgotten key is not, and told", async () => {
  const first = await page();
  const { id } = await first.auth.signUp(...person());
  await first.notes.preload();
  first.offline();
  for (const title of ["perhaps", "never sent"]) first.notes.insert(note(title));
  await expect.poll(() => first.device.keys("outbox/")).toHaveLength(2);
  const days = (entry: string, name: string) =>
    JSON.stringify({ ...JSON.parse(entry), [name]: Date.now() - 9 * 86_400_000 });
  const [perhaps = ""] = first.device.keys("outbox/").sort();
  const second = await first.reload();
  second.close();
  first.device.items.set(perhaps, days(first.device.items.get(perhaps) ?? "", "attemptedAt"));
  const third = await second.reload();
  third.online();
  await saved(id).toEqual(["never sent"]);
  await expect
    .poll(() => third.refused)
    .toMatchObject([{ row: { title: "perhaps" }, error: { code: "OUTCOME_UNKNOWN" } }]);
});

test("what the device cannot keep is not shown as if it were", async () => {
  const device = new Device();
  const { auth, notes, titles, outbox } = await page({ device });
  const { id } = await auth.signUp(...person());
  await notes.preload();
  device.before = (use, key) => {
    if (use === "write" && key.startsWith("outbox/")) throw new Error("The disk is full.");
  };
  await expect(notes.insert(note("lost")).when("settled")).rejects.toThrow("The disk is full.");
  expect([titles(), outbox.pending()]).toEqual([[], []]);
  device.before = () => {};
  notes.insert(note("kept"));
  await saved(id).toEqual(["kept"]);
});

test("who hears of a change may change the collection at once", async () => {
  const { auth, notes, titles } = await page();
  const { id } = await auth.signUp(...person());
  await notes.preload();
  notes.subscribeChanges((changes) => {
    if (changes.some(({ type, value }) => type === "insert" && value.title === "first")) notes.insert(note("second"));
  });
  await db.sql("insert into notes (user_id, title) values ($1, 'first')", [id]);
  await saved(id).toEqual(["first", "second"]);
  await expect.poll(() => [...notes.keys()].every((key) => key > 0)).toBe(true);
  await expect.poll(titles).toEqual(["first", "second"]);
  await db.sql("delete from notes where user_id = $1", [id]);
  await expect.poll(titles).toEqual([]);
});

test("rows have the types of their columns, also after a reload", async () => {
  const options = { query: api.samples.list, getKey: (row: { id: string }) => row.id, insert: api.samples.create };
  const collectionOf = ({ client, outbox }: Awaited<ReturnType<typeof page>>) =>
    createCollection(svcCollectionOptions({ ...options, client, outbox, startSync: true }));
  const first = await page();
  const { id: user } = await first.auth.signUp(...person());
  const whole = { anInstant: new Date(0), aBigint: 2n ** 60n, someBytes: Uint8Array.of(1, 2), someTags: ["a"] };
  const samples = collectionOf(first);
  await samples.preload();
  first.offline();
  const id = crypto.randomUUID();
  await samples.insert({ ...whole, id } as never).when("settled");
  expect(samples.get(id)).toMatchObject(whole);
  const second = await first.reload();
  const again = collectionOf(second);
  await expect.poll(() => again.get(id)).toMatchObject(whole);
  second.online();
  await expect.poll(second.outbox.pending).toEqual([]);
  await expect.poll(() => again.toArray.map(({ id }) => id)).not.toContain(id);
  expect(again.toArray).toMatchObject([whole]);
  expect(await db.sql("select a_bigint from samples where user_id = $1", [user])).toEqual([
    { a_bigint: String(2n ** 60n) },
  ]);
});
