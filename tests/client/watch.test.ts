/** Watching with the SDK: the shown data follows the database, whatever happens in between. */
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient } from "../../client/sdk/src/index.ts";
import { Snapshot } from "../../client/sdk/src/realtime/snapshot.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);
beforeAll(() => db.sql("set synchronous_commit to on"));

const open: SvcClient<typeof api>[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

function connect(baseUrl = running.url) {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    if (String(input).endsWith("/api/query")) asked.push(JSON.parse(String(init?.body)).name);
    return globalThis.fetch(input, init);
  };
  const auth = createAuthClient(baseUrl, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl, auth, fetch });
  open.push(client);
  return { auth, client, asked, email: `${crypto.randomUUID()}@example.com` };
}
async function signedUp(baseUrl?: string) {
  const connected = connect(baseUrl);
  const user = await connected.auth.signUp(connected.email, "correct horse", "Ann");
  return { ...connected, user };
}

/** Watches the user's notes; `titles` are those that a page would show. */
function watchTitles(client: SvcClient<typeof api>, limit = 100) {
  const state = { titles: [] as string[], results: 0, errors: [] as unknown[] };
  const stop = client.watch(
    api.notes.list,
    { orderBy: "title", orderDir: "asc", limit },
    ({ data }) => {
      state.titles = data.map(({ title }) => title);
      state.results++;
    },
    (error) => state.errors.push(error),
  );
  return { state, stop };
}
const insert = (user: string, title: string) =>
  db.sql("insert into notes (user_id, title) values ($1, $2) returning id", [user, title]);
const live = (client: SvcClient<typeof api>) => expect.poll(() => client.realtime.getStatus()).toBe("live");

test("gives the result now, and after every change, whoever made it", async () => {
  const { client, user } = await signedUp();
  await client.mutate(api.notes.create, { title: "a" });
  const { state } = watchTitles(client);
  await expect.poll(() => state.titles).toEqual(["a"]);
  await live(client);
  await client.mutate(api.notes.create, { title: "b" });
  await expect.poll(() => state.titles).toEqual(["a", "b"]);
  await insert(user.id, "c");
  await expect.poll(() => state.titles).toEqual(["a", "b", "c"]);
});

test("does not ask for a change of somebody else", async () => {
  const [ann, bob] = [await signedUp(), await signedUp()];
  const { state } = watchTitles(ann.client);
  await live(ann.client);
  await expect.poll(() => state.results).toBeGreaterThan(0);
  await ann.client.mutate(api.notes.create, { title: "hers" });
  await expect.poll(() => state.titles).toEqual(["hers"]);
  const before = ann.asked.length;
  for (let n = 0; n < 20; n++) await bob.client.mutate(api.notes.create, { title: "his" });
  await ann.client.mutate(api.notes.create, { title: "also hers" });
  await expect.poll(() => state.titles).toEqual(["also hers", "hers"]);
  expect(ann.asked.length - before).toBeLessThan(5); // for her own, and what was still on its way
});

test("asks once for all who watch the same, and for changes that come together", async () => {
  const { client, asked, user } = await signedUp();
  const watchers = Array.from({ length: 20 }, () => watchTitles(client));
  await live(client);
  await expect.poll(() => watchers.every(({ state }) => state.results > 0)).toBe(true);
  const before = asked.length;
  await db.sql("insert into notes (user_id, title) select $1, n::text from generate_series(1, 50) n", [user.id]);
  await expect.poll(() => watchers.map(({ state }) => state.titles.length)).toEqual(Array(20).fill(50));
  expect(asked.length - before).toBeLessThan(5);
});

test("asks no more once it is stopped", async () => {
  const { client, asked, user } = await signedUp();
  const first = watchTitles(client);
  await live(client);
  first.stop();
  await expect.poll(() => client.realtime.getStatus()).toBe("idle");
  const before = asked.length;
  await insert(user.id, "unseen");
  expect(asked.length).toBe(before);
  const again = watchTitles(client);
  await expect.poll(() => again.state.titles).toEqual(["unseen"]);
});

test("misses nothing between the answer and the subscription: a hundred writes at random moments", async () => {
  const { client, user } = await signedUp();
  for (let n = 0; n < 30; n++) {
    const { state, stop } = watchTitles(client);
    const title = `note ${n}`;
    await insert(user.id, title);
    await expect.poll(() => state.titles, { interval: 2 }).toContain(title);
    stop();
  }
});

test("misses nothing that changes while an answer is under way", async () => {
  const { client, user, asked } = await signedUp();
  const [late, other] = [watchTitles(client), watchTitles(client, 50)];
  await live(client);
  // An answer in progress could already have the first note, and then the client would not ask again.
  const lists = () => asked.filter((name) => name === "notes.list").length;
  await expect.poll(() => late.state.results + other.state.results === lists() && lists() >= 2).toBe(true);
  const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const real = globalThis.fetch;
  vi.stubGlobal("fetch", async (input: string, init?: RequestInit) => {
    const response = await real(input, init);
    if (String(init?.body).includes('"limit":100')) {
      answer();
      await arrives;
    }
    return response;
  });
  try {
    await insert(user.id, "a");
    await answered;
    await insert(user.id, "b");
    // Both receive it with the same frame.
    await expect.poll(() => other.state.titles).toEqual(["a", "b"]);
  } finally {
    vi.unstubAllGlobals();
    arrive();
  }
  await expect.poll(() => late.state.titles).toEqual(["a", "b"]);
});

describe("a connection that is lost", () => {
  test("is made anew, and what was missed is there", async () => {
    const proxy = await FlakyProxy.start(running.url);
    try {
      const { client, user } = await signedUp(proxy.url);
      const { state } = watchTitles(client);
      await live(client);
      proxy.fault = () => ({ kind: "refuse" });
      proxy.breakAll();
      await expect.poll(() => client.realtime.getStatus()).not.toBe("live");
      await insert(user.id, "while offline");
      proxy.fault = () => ({ kind: "none" });
      await expect.poll(() => state.titles).toEqual(["while offline"]);
      await live(client);
    } finally {
      await proxy.stop();
    }
  });

  test("of the reader on the other side ends in a result that is right", async () => {
    const { client, user } = await signedUp();
    const { state } = watchTitles(client);
    await live(client);
    await db.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'walsender' and datname = current_database()",
    );
    await insert(user.id, "in the gap");
    await expect.poll(() => state.titles).toEqual(["in the gap"]);
  });
});

test("an answer that failed, all tries of it, is asked for again: no other event may come", async () => {
  let broken = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (broken && String(input).endsWith("/api/query")) throw new TypeError("broken");
    return globalThis.fetch(input, init);
  };
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl: running.url, auth, fetch });
  open.push(client);
  const user = await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  const { state } = watchTitles(client);
  await live(client);
  await expect.poll(() => state.results).toBeGreaterThan(0);
  broken = true;
  await insert(user.id, "told once");
  await expect.poll(() => state.errors.length).toBeGreaterThan(0);
  broken = false;
  await expect.poll(() => state.titles).toEqual(["told once"]);
  expect(client.realtime.getStatus()).toBe("live");
});

test.each([
  ["watcher that is stopped", "stop"],
  ["client that is closed", "close"],
] as const)("a %s asks no more, though the service cannot be reached", async (_, end) => {
  vi.useFakeTimers();
  try {
    const fetch = vi.fn<typeof globalThis.fetch>(() => Promise.reject(new TypeError("refused")));
    const client = createSvcClient({ api, baseUrl: running.url, fetch, WebSocket: undefined as never });
    const ends = { stop: client.watch(api.notes.list, {}, () => {}), close: () => client.close() };
    ends[end]();
    // Answers that were under way have failed, and nothing waits to ask again.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(fetch).toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});

describe("who watches", () => {
  test("with a JWT that has run out gets a fresh one before the socket", async () => {
    const { auth, client } = await signedUp();
    const old = auth.getState().token;
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
    const sent = vi.spyOn(globalThis, "fetch");
    try {
      watchTitles(client);
      await live(client);
      expect(auth.getState().token).not.toBe(old);
      expect(JSON.stringify(sent.mock.calls)).not.toContain(old); // not even once, to be refused
    } finally {
      sent.mockRestore();
      vi.useRealTimers();
    }
  });

  test("signing in as somebody else shows theirs", async () => {
    const ann = await signedUp();
    const bob = await signedUp();
    await bob.client.mutate(api.notes.create, { title: "his" });
    await ann.client.mutate(api.notes.create, { title: "hers" });
    const { state } = watchTitles(ann.client);
    await expect.poll(() => state.titles).toEqual(["hers"]);
    await ann.auth.signIn(bob.email, "correct horse");
    await expect.poll(() => state.titles).toEqual(["his"]);
    await live(ann.client);
    await insert(bob.user.id, "his too");
    await expect.poll(() => state.titles).toEqual(["his", "his too"]);
  });

  test("and whose row changes goes on watching, with a fresh JWT", async () => {
    const { client, user } = await signedUp();
    const { state } = watchTitles(client);
    await live(client);
    // It may reconnect before the test looks.
    const left = new Promise<void>((resolve) => {
      client.realtime.subscribe(() => client.realtime.getStatus() !== "live" && resolve());
    });
    await db.sql(`update auth."user" set name = 'Ann the second' where id = $1`, [user.id]);
    await left;
    await live(client);
    await insert(user.id, "after");
    await expect.poll(() => state.titles).toEqual(["after"]);
  });

  test("nobody is told so", async () => {
    const { state } = watchTitles(connect().client);
    await expect.poll(() => state.errors[0]).toMatchObject({ code: "UNAUTHORIZED" });
  });

  test("without a WebSocket the result still comes", async () => {
    const { auth, client, user } = await signedUp();
    const poor = createSvcClient({ api, baseUrl: running.url, auth, WebSocket: undefined as never });
    open.push(poor);
    await client.mutate(api.notes.create, { title: user.name });
    const { state } = watchTitles(poor);
    await expect.poll(() => state.titles).toEqual([user.name]);
  });
});

test.each([
  ["10:10:", "9", true],
  ["10:10:", "10", false],
  ["10:20:12,15", "11", true],
  ["10:20:12,15", "12", false],
  ["10:20:12,15", "15", false],
  ["10:20:12,15", "20", false],
  ["4294967300:4294967310:4294967305", "4294967304", true],
  ["4294967300:4294967310:4294967305", "4294967305", false],
])("the snapshot %s sees transaction %s: %s", (snapshot, xid, expected) => {
  expect(new Snapshot(snapshot).sees(xid)).toBe(expected);
});

test.each(["10:10:", "10:20:", "10:20:10,15", "12:20:12", "10:20:19"])(
  "the snapshot %s sees all transactions below an id when it sees each of them",
  (text) => {
    const snapshot = new Snapshot(text);
    for (let id = 1; id <= 25; id++) {
      const below = Array.from({ length: id }, (_, one) => String(one));
      expect([id, snapshot.seesAllBelow(String(id))]).toEqual([id, below.every((one) => snapshot.sees(one))]);
    }
  },
);
