// If this file fails, a page shows people who are gone, or hides people who are there.
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { presenceTimes } from "../../src/realtime/channel-presence.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService, type User } from "../support/service.ts";
import { cutReader, cutRevocations, type Socket, sockets } from "../support/sockets.ts";
import { channels } from "./channel-application.ts";

const grace = 400;
presenceTimes.grace = grace;
const db = database();
const api = apiWith({ channels });
const running = new TestService(db, api, {}, schema);
const other = new TestService(db, api, {}, schema);
const connect = sockets(running);
const elsewhere = sockets(other);
beforeAll(() => Promise.all([running.start(), other.start()]));
afterAll(() => Promise.all([running.stop(), other.stop()]));
const bySession = (user: User | null) => user && { ...user, token: user.sessionToken };

let rooms = 20;
/** As the SDK does: adds changes to the first list. */
class Page {
  /** The mood of each, by id. */
  shown: Record<string, { name: string | undefined; connections: number }> = {};
  /** Every change that it saw. */
  readonly seen: string[] = [];
  lists = 0;

  constructor(socket: Socket) {
    socket.websocket.on("message", (text) => {
      const { members, set = [], gone = [] } = JSON.parse(String(text)).data ?? {};
      if (members) {
        this.lists++;
        this.shown = {};
      }
      for (const { id, state, connections } of members ?? set) this.shown[id] = { name: state?.json.name, connections };
      for (const id of gone) {
        delete this.shown[id];
        this.seen.push(`gone ${id}`);
      }
    });
  }
}

async function enter(socket: Socket, key: string, follows?: string) {
  const page = new Page(socket);
  socket.send({ type: "subscribe", query: key, follows });
  const { member } = await socket.wait({ type: "subscribed", query: key });
  await expect.poll(() => page.lists).toBe(1);
  return { page, id: member.id as string };
}
const room = () => `lobby::{"n":${-++rooms}}`;

test("members see each other in all processes: who comes, what they show, who leaves", async () => {
  const key = room();
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  const [one, two] = [await connect(ann), await elsewhere(bySession(bob))];
  const first = await enter(one, key);
  expect(first.id).toBe(ann.id);
  await expect.poll(() => first.page.shown).toEqual({ [ann.id]: { connections: 1 } });
  one.send({ type: "track", query: key, state: { name: "Ann" }, ref: 1 });
  const second = await enter(two, key);
  const both = { [ann.id]: { name: "Ann", connections: 1 }, [bob.id]: { connections: 1 } };
  await expect.poll(() => [first.page.shown, second.page.shown]).toEqual([both, both]);
  two.send({ type: "unsubscribe", query: key });
  await expect.poll(() => first.page.shown).toEqual({ [ann.id]: { name: "Ann", connections: 1 } });
});

test("nobody sees that all users connect again, as after a failover", async () => {
  const key = room();
  const ann = await running.signUp("ann");
  const { page } = await enter(await connect(null), key);
  const socket = await connect(ann);
  const secret = "the secret of this client";
  await enter(socket, key, secret);
  await expect.poll(() => page.shown[ann.id]).toEqual({ connections: 1 });
  const { grace } = presenceTimes;
  presenceTimes.grace = 60_000;
  try {
    await cutRevocations(db);
    await expect.poll(() => socket.closed?.code).toBe(4401);
    await new Promise((resolve) => setTimeout(resolve, 400)); // changes are told every 100 ms
    await enter(await connect(ann), key, secret);
  } finally {
    presenceTimes.grace = grace;
  }
  expect(page.seen).toEqual([]);
});

test("several tabs are one member, who is there until the last one is closed", async () => {
  const key = room();
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  const { page } = await enter(await connect(bob), key);
  const [one, two] = [await connect(ann), await elsewhere(bySession(ann))];
  await enter(one, key);
  await enter(two, key);
  await expect.poll(() => page.shown[ann.id]).toEqual({ connections: 2 });
  one.close();
  await expect.poll(() => page.shown[ann.id]).toEqual({ connections: 1 });
  expect(page.seen).toEqual([]);
  two.close();
  await expect.poll(() => page.seen).toEqual([`gone ${ann.id}`]);
});

test("a short break is not seen, also of a visitor who comes back to another process", async () => {
  const key = room();
  const { page, id: watcher } = await enter(await connect(null), key);
  const before = await connect(null);
  const secret = "a secret of sixteen characters";
  const { id } = await enter(before, key, secret);
  before.send({ type: "track", query: key, state: { name: "Guest" }, ref: 1 });
  await expect.poll(() => page.shown[id]).toEqual({ name: "Guest", connections: 1 });
  before.close();
  const after = await elsewhere(null);
  expect((await enter(after, key, secret)).id).toBe(id);
  await new Promise((resolve) => setTimeout(resolve, 3 * presenceTimes.grace));
  expect(page.seen).toEqual([]);
  expect(Object.keys(page.shown).sort()).toEqual([watcher, id].sort());
  const thief = await connect(await running.signUp("eve"));
  expect((await enter(thief, key, secret)).id).not.toBe(id);
});

test("what a member shows is checked, and is for channels with presence alone", async () => {
  const key = room();
  const socket = await connect(null);
  await enter(socket, key);
  const refusal = async (query: string, state: unknown) => {
    socket.send({ type: "track", query, state, ref: 1 });
    for (;;) {
      const { data } = await socket.wait({ type: "query:updated", query });
      if (data.failed) return data.code;
    }
  };
  expect(await refusal(key, { name: 7 })).toBe("VALIDATION_FAILED");
  expect(await refusal(key, { name: "x".repeat(600) })).toBe("PAYLOAD_TOO_LARGE");
  expect(await refusal('lobby::{"n":9}', { name: "x" })).toBe("FORBIDDEN");
});

test("a process that reads changes again has the same members as the others", async () => {
  const key = room();
  const [one, two] = [await connect(null), await elsewhere(null)];
  const [first, second] = [await enter(one, key), await enter(two, key)];
  await expect.poll(() => Object.keys(first.page.shown).length).toBe(2);
  await cutReader(db);
  const late = await enter(await elsewhere(null), key);
  const all = [first.id, second.id, late.id].sort();
  await expect
    .poll(() => [first, second, late].map(({ page }) => Object.keys(page.shown).sort()), { timeout: 20_000 })
    .toEqual([all, all, all]);
  expect([first, second, late].flatMap(({ page }) => page.seen)).toEqual([]);
});

test("the members of a process that stops come to another one, and nobody sees it", async () => {
  const key = room();
  const third = new TestService(db, api, {}, schema);
  await third.start();
  const { page } = await enter(await connect(null), key);
  const secret = "another secret of sixteen";
  const [stays, goes] = [sockets(third), sockets(third)];
  const moving = await stays(null);
  const { id } = await enter(moving, key, secret);
  const { id: gone } = await enter(await goes(null), key);
  await expect.poll(() => Object.keys(page.shown).length).toBe(3);
  presenceTimes.grace = 5_000; // on a busy machine the way to another process takes longer than 400 ms
  onTestFinished(() => {
    presenceTimes.grace = grace;
  });
  await third.stop();
  expect((await enter(await elsewhere(null), key, secret)).id).toBe(id);
  await expect.poll(() => page.seen, { timeout: 20_000 }).toEqual([`gone ${gone}`]);
  expect(page.shown[id]).toEqual({ connections: 1 });
});
