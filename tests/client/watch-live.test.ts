/** Watching queries of the author's own with the SDK: they follow what they read, at a bounded price. */
import { afterEach, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient } from "../../client/sdk/src/index.ts";
import type { Query } from "../../client/sdk/src/operation.ts";
import { Snapshot } from "../../client/sdk/src/realtime/snapshot.ts";
import { procedures, runs, schema, tables } from "../realtime/live-application.ts";
import { database } from "../support/database.ts";
import { liveService } from "../support/live.ts";
import { apiWith } from "../support/service.ts";
import { cutReader } from "../support/sockets.ts";

const db = database();
const api = apiWith({ procedures });
const running = liveService(db, api, schema, tables);
const open: SvcClient<object>[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.close();
  vi.restoreAllMocks();
});

const operation = (name: string) => ({ kind: "query", name }) as unknown as Query;

async function signedUp(transport: Pick<Parameters<typeof createSvcClient>[0], "fetch" | "WebSocket"> = {}) {
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api: {}, baseUrl: running.url, auth, ...transport });
  open.push(client);
  const user = await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  return { client, user };
}

/** @returns what a page would show */
function show(client: SvcClient<object>, name: string, args: object = {}) {
  const shown = { result: undefined as unknown, errors: [] as unknown[] };
  const stop = client.watch(
    operation(name),
    args as never,
    (result) => {
      shown.result = result;
    },
    (error) => shown.errors.push(error),
  );
  return { shown, stop };
}
const live = (client: SvcClient<object>) => expect.poll(() => client.realtime.getStatus()).toBe("live");

test("a watched query of one's own follows every change of what it reads", async () => {
  const { client, user } = await signedUp();
  const { shown } = show(client, "live.mine");
  await live(client);
  await expect.poll(() => shown.result).toEqual([]);
  await db.sql("insert into notes (user_id, title) values ($1, 'a')", [user.id]);
  await expect.poll(() => shown.result).toEqual([{ title: "a" }]);
  await cutReader(db);
  await db.sql("insert into notes (user_id, title) values ($1, 'b')", [user.id]);
  await expect.poll(() => shown.result).toEqual([{ title: "a" }, { title: "b" }]);
});

test("a watch that opens asks once, on a new connection and on one that is live", async () => {
  // The service reads changes from its first socket on; until then it cannot say what was missed.
  const first = await signedUp();
  const { shown } = show(first.client, "live.mine");
  await live(first.client);
  await expect.poll(() => shown.result).toBeDefined(); // it counts, too
  // Other test files use the same server.
  let isQuiet = false;
  while (!isQuiet) isQuiet = await opensTwice();
});

/** @returns whether no other transaction of the server was under way: while one is, the client rightly asks again */
async function opensTwice(): Promise<boolean> {
  const subscribedAt = new Map<string, string>();
  class Recorder extends globalThis.WebSocket {
    constructor(url: string | URL) {
      super(url);
      this.addEventListener("message", ({ data }) => {
        const { type, query, follows, before } = JSON.parse(String(data));
        if (type === "subscribed" && follows) subscribedAt.set(query, before);
      });
    }
  }
  const answered = new Map<string, Snapshot>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    const { snapshot } = await response.clone().json();
    const { name } = JSON.parse(String(init?.body ?? "{}"));
    if (snapshot && !answered.has(name)) answered.set(name, new Snapshot(snapshot));
    return response;
  };
  const { client } = await signedUp({ WebSocket: Recorder, fetch });
  for (const name of ["live.mine", "live.tally"]) {
    const before = runs.get(name) ?? 0;
    const { shown } = show(client, name);
    await expect.poll(() => [...subscribedAt.keys()]).toContain(name);
    expect(shown.result).toBeDefined();
    if (!answered.get(name)?.seesAllBelow(subscribedAt.get(name) ?? "0")) return false;
    // A query that is asked again after a later event: what the subscription had asked for would be under way by then.
    const { shown: other } = show(client, "live.closed");
    await expect.poll(() => [...subscribedAt.keys()]).toContain("live.closed");
    const count = Number(other.result);
    await db.sql("insert into guestbook (message) values ('later')");
    await expect.poll(() => other.result).toBe(count + 1);
    expect([name, (runs.get(name) ?? 0) - before]).toEqual([name, 1]);
  }
  return true;
}

test("changes of other owners' rows do not make it ask again", async () => {
  const [ann, bob] = [await signedUp(), await signedUp()];
  const { shown } = show(ann.client, "live.mine");
  await live(ann.client);
  await db.sql("insert into notes (user_id, title) values ($1, 'hers')", [ann.user.id]);
  await expect.poll(() => shown.result).toEqual([{ title: "hers" }]);
  const before = runs.get("live.mine") ?? 0;
  for (let n = 0; n < 50; n++) await db.sql("insert into notes (user_id, title) values ($1, 'his')", [bob.user.id]);
  await db.sql("insert into notes (user_id, title) values ($1, 'also hers')", [ann.user.id]);
  await expect.poll(() => shown.result).toEqual([{ title: "hers" }, { title: "also hers" }]);
  expect((runs.get("live.mine") ?? 0) - before).toBeLessThan(5); // for her own, and what was still on its way
});

test("a query whose tables do not change is not run again", async () => {
  const { client } = await signedUp();
  const before = runs.get("live.tally") ?? 0;
  const { shown } = show(client, "live.tally");
  const { shown: busy } = show(client, "live.closed");
  await live(client);
  await expect.poll(() => shown.result).toBe(0);
  await db.sql("truncate guestbook");
  await expect.poll(() => busy.result).toBe(0);
  for (let n = 1; n <= 6; n++) {
    await db.sql("insert into guestbook (message) values ('x')");
    await expect.poll(() => busy.result).toBe(n);
  }
  // The call, and one when the guestbook was emptied before the subscription.
  expect((runs.get("live.tally") ?? 0) - before).toBeLessThanOrEqual(2);
});

test("a thousand commits cost few runs, and the last one shows them all", async () => {
  const { client } = await signedUp();
  await db.sql("truncate guestbook");
  const { shown } = show(client, "live.closed");
  await live(client);
  await expect.poll(() => shown.result).toBe(0);
  const before = runs.get("live.closed") ?? 0;
  for (let n = 0; n < 1_000; n++) await db.sql("insert into guestbook (message) values ('x')");
  await expect.poll(() => shown.result).toBe(1_000);
  const more = (runs.get("live.closed") ?? 0) - before;
  expect(more).toBeGreaterThan(0);
  expect(more).toBeLessThan(50);
});

test("what the service cannot follow is said on the console, once", async () => {
  const said = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { client } = await signedUp();
  const { shown } = show(client, "live.untold");
  await expect.poll(() => shown.result).toBeDefined();
  await client["~svc"].refetch(operation("live.untold"), {});
  const told = said.mock.calls.map(([text]) => String(text)).filter((text) => text.startsWith("svc: "));
  expect(told).toEqual([expect.stringContaining('Those who watch "live.untold" miss changes.')]);
});

test("a client that watches again after close() gives nobody what another user saw", async () => {
  const { client, user } = await signedUp();
  client.close();
  await db.sql("insert into notes (user_id, title) values ($1, 'a')", [user.id]);
  const { shown } = show(client, "live.mine");
  await expect.poll(() => shown.result).toEqual([{ title: "a" }]);
  await client.auth?.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Bob");
  const results: unknown[] = [];
  client.watch(operation("live.mine"), {} as never, (result) => results.push(result));
  await expect.poll(() => results[0]).toEqual([]);
});
