// If this file fails, a page that comes back after a backup was restored, or a standby took over, misses messages of a durable
// channel silently, or gets two messages with one number.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { channels } from "./durable-application.ts";
import { join, said } from "./durable-pages.ts";

const db = database();
const running = service(db, apiWith({ channels }));
const connect = sockets(running);
beforeAll(() => db.sql("set synchronous_commit to on"));

const texts = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));
async function add(topic: string, all: readonly string[], max = 10_000): Promise<void> {
  const message = { name: topic.split("::")[0], topic, message: "said", keep: 3_600_000, max };
  const messages = all.map((text) => ({ ...message, body: JSON.stringify({ json: { text } }) }));
  await db.sql("select svc.store_messages($1)", [JSON.stringify(messages)]);
}
const stored = async (topic: string) =>
  (
    await db.sql<{ id: string }>(
      "select m.id from svc.channel_messages m join svc.channels c on c.id = m.channel_id where topic = $1 order by 1",
      [topic],
    )
  ).map(({ id }) => Number(id));
const after = async (topic: string, id: number) => join(await connect(null), topic, { after: id, last: 1_000 });

/** Puts the rows of channels back as they are now, as a restored backup does: its table is another one. */
async function backup(): Promise<() => Promise<void>> {
  await db.sql("drop table if exists kept_channels, kept_messages");
  await db.sql(
    "create table kept_channels as table svc.channels; create table kept_messages as table svc.channel_messages",
  );
  return async () => {
    await db.sql(`truncate svc.channels, svc.channel_messages;
      insert into svc.channels overriding system value select * from kept_channels;
      insert into svc.channel_messages select * from kept_messages`);
  };
}

test("numbers that a lost message had are never used again, and who has one hears of a gap for ever", async () => {
  const topic = 'archive::{"id":"restored"}';
  await add(topic, texts(1, 5));
  const restore = await backup();
  const before = await stored(topic);
  await add(topic, ["lost 1", "lost 2", "lost 3"]);
  const lost = (await stored(topic)).slice(5);
  await restore();
  for (const id of lost) expect((await after(topic, id)).gap).toBe(true);
  expect(await after(topic, before[4] ?? 0)).toMatchObject({ gap: false, until: before[4], messages: [] });

  for (const text of texts(6, 15)) await add(topic, [text]);
  const ids = await stored(topic);
  expect(ids.slice(0, 5)).toEqual(before);
  expect(ids.filter((id) => lost.includes(id))).toEqual([]);
  for (const id of lost) {
    const page = await after(topic, id);
    expect([page.gap, said(page.messages)]).toEqual([true, texts(1, 15)]);
  }
  for (const [at, id] of ids.entries()) {
    const page = await after(topic, id);
    expect([page.gap, said(page.messages)]).toEqual([false, texts(at + 2, 15)]);
  }

  // Once more, to a state after the first time: both have lost numbers of their own.
  const restoreAgain = await backup();
  await add(topic, ["lost 4"]);
  const [again = 0] = (await stored(topic)).slice(-1);
  await restoreAgain();
  await add(topic, ["16"]);
  for (const id of [...lost, again]) expect((await after(topic, id)).gap).toBe(true);
  expect(said((await after(topic, ids[14] ?? 0)).messages)).toEqual(["16"]);
  expect(Math.max(...(await stored(topic)))).toBeLessThan(Number.MAX_SAFE_INTEGER);
});

test("a channel whose rows were made after a backup, and lost with it, begins with higher numbers", async () => {
  const topic = 'archive::{"id":"made later"}';
  const restore = await backup();
  await add(topic, ["lost"]);
  const [lost = 0] = await stored(topic);
  await restore();
  expect((await after(topic, lost)).gap).toBe(true);
  await add(topic, ["new"]);
  const page = await after(topic, lost);
  expect([page.gap, said(page.messages)]).toEqual([true, ["new"]]);
  expect((await stored(topic))[0]).toBeGreaterThan(lost);
});

test("a channel keeps as many messages as it may, across restores", async () => {
  const topic = 'archive::{"id":"few"}';
  const kept = async () => said((await join(await connect(null), topic, { last: 1_000 })).messages);
  await add(topic, texts(1, 8), 10);
  for (const first of [9, 11, 13]) {
    await (await backup())();
    await add(topic, [String(first)], 10);
    await add(topic, [String(first + 1)], 10);
    expect(await kept()).toEqual(texts(Math.max(1, first - 8), first + 1));
  }
  const [oldest = 0, ...others] = await stored(topic);
  expect((await after(topic, oldest)).gap).toBe(false);
  for (const text of texts(15, 30)) await add(topic, [text], 10);
  expect(await kept()).toEqual(texts(21, 30));
  for (const id of [oldest, ...others]) expect((await after(topic, id)).gap).toBe(true);
  // Of numbers that are gone the row does not grow.
  expect(await db.sql("select from svc.channels where topic = $1 and skipped <> '{}'", [topic])).toEqual([]);
});
