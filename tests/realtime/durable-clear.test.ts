// If this file fails, messages of a room that was deleted stay in the database, or pages take others for them.
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { procedure } from "../fixture/backend/index.ts";
import { guestbook } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { channels as others } from "./channel-application.ts";
import { channels } from "./durable-application.ts";
import { join, live, said, say } from "./durable-pages.ts";

const clear = procedure.mutation
  .name("test.clear")
  .input(z.object({ id: z.string(), say: z.string().optional(), fail: z.boolean().optional() }))
  .handler(async ({ context: { db, realtime }, input: { id, say, fail } }) => {
    if (say) realtime.send(channels.wall, { id }, "said", { text: say });
    realtime.clear(channels.wall, { id });
    await db.insert(guestbook).values({ message: id });
    if (fail) throw new Error("changed my mind");
  });
const clearOther = procedure.mutation
  .name("test.clearOther")
  .handler(({ context: { realtime } }) => realtime.clear(others.lobby, { n: 1 }));
const clearInQuery = procedure.query
  .name("test.clearInQuery")
  .handler(({ context: { realtime } }) => realtime.clear(channels.wall, { id: "x" }));

const db = database();
const api = apiWith({ procedures: { clear, clearOther, clearInQuery }, channels: { ...others, ...channels } });
const running = service(db, api);
const other = service(db, api);
const [connect, elsewhere] = [sockets(running), sockets(other)];
let ann: User;
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  ann = await running.signUp("ann");
});

let count = 0;
const wall = () => {
  const id = `place ${++count}`;
  return { id, key: `wall::{"id":"${id}"}` };
};
const joinedTo = async (key: string) => {
  const socket = await connect(null);
  await join(socket, key);
  return socket;
};
const stored = (key: string) =>
  db.sql<{ id: string }>(
    "select m.id from svc.channel_messages m join svc.channels c on c.id = m.channel_id where topic = $1 order by m.id",
    [key],
  );

test("what a handler clears is gone with its commit, and stays if it fails", async () => {
  const { id, key } = wall();
  const [one, two] = [await connect(null), await elsewhere(null)];
  await join(one, key);
  const { until } = await join(two, key);
  for (const text of ["1", "2", "3"]) await say(one, key, text);
  const [first] = await live(two, 3);
  expect((await running.mutate(ann, "test.clear", { id, fail: true })).status).toBe(500);
  expect((await stored(key)).length).toBe(3);
  expect((await running.mutate(ann, "test.clear", { id })).status).toBe(200);
  expect(await stored(key)).toEqual([]);
  for (const after of [0, first?.id, Number(first?.id) + 2]) {
    expect(await join(await connect(null), key, { after, last: 10 })).toMatchObject({ gap: true, messages: [] });
  }
  const now = await join(await connect(null), key, { last: 10 });
  expect(now).toMatchObject({ gap: false, messages: [], until: Number(first?.id) + 3 });
  await say(one, key, "4");
  expect((await live(two, 4)).at(-1)?.id).toBe(now.until + 1);
  expect(until).toBe(0);
  const back = await join(await elsewhere(null), key, { after: now.until });
  expect([back.gap, said(back.messages)]).toEqual([false, ["4"]]);
});

test("nobody hears of a gap where nothing was cleared: a channel that was empty", async () => {
  const { id, key } = wall();
  const { until: before } = await join(await connect(null), key);
  await running.mutate(ann, "test.clear", { id });
  expect((await join(await connect(null), key, { after: before })).gap).toBe(false);
  await say(await joinedTo(key), key, "old");
  await running.mutate(ann, "test.clear", { id });
  const { until } = await join(await connect(null), key, { last: 1 });
  await running.mutate(ann, "test.clear", { id });
  expect((await join(await connect(null), key, { after: until })).gap).toBe(false);
  expect((await join(await connect(null), key, { after: before })).gap).toBe(true);
});

test("a message of the same call stays, so that a handler can say who has cleared", async () => {
  const { id, key } = wall();
  const socket = await connect(null);
  await join(socket, key);
  await say(socket, key, "old");
  await running.mutate(ann, "test.clear", { id, say: "Ann has cleared this" });
  expect(said(await live(socket, 2))).toEqual(["old", "Ann has cleared this"]);
  expect(said((await join(await connect(null), key, { last: 10 })).messages)).toEqual(["Ann has cleared this"]);
});

test("while others send, each message is before the clearing and gone, or after it and kept", async () => {
  const { id, key } = wall();
  const watcher = await elsewhere(null);
  await join(watcher, key);
  const senders = [await connect(null), await elsewhere(null)];
  for (const sender of senders) await join(sender, key);
  await Promise.all([
    ...senders.map(async (sender, at) => {
      for (let n = 0; n < 8; n++) await say(sender, key, `${at} ${n}`);
    }),
    ...[1, 2, 3].map(() => running.mutate(ann, "test.clear", { id })),
  ]);
  const heard = await live(watcher, 16);
  const ids = heard.map((message) => message.id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  const kept = (await stored(key)).map((row) => Number(row.id));
  expect(kept).toEqual(ids.slice(ids.length - kept.length));
});

test("a message that goes with an account is not waited for, nor read if the account stays", async () => {
  const { id, key } = wall();
  const socket = await connect(ann);
  await join(socket, key);
  await say(socket, key, "hers");
  const leaving = await db.connect("admin");
  await leaving.query("begin");
  await leaving.query("delete from svc.channel_messages where user_id = $1", [ann.id]);
  expect((await running.mutate(ann, "test.clear", { id })).status).toBe(200);
  await leaving.query("rollback");
  expect((await join(await connect(null), key, { last: 10 })).messages).toEqual([]);
  expect((await join(await connect(null), key, { after: 1, last: 10 })).messages).toEqual([]);
});

test("only what is stored can be cleared, and not by a query", async () => {
  expect((await running.mutate(ann, "test.clearOther", {})).status).toBe(500);
  expect(running.logged.join("")).toContain('The channel \\"lobby\\" is not durable');
  expect((await running.query(ann, "test.clearInQuery")).body).toMatchObject({ code: "QUERY_WROTE" });
});
