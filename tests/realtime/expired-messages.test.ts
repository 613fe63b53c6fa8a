// If this file fails, a page gets messages of a durable channel that have expired, or is told of a gap or of more messages
// where there are none; or the sweep removes messages of another channel.
import { beforeEach, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
beforeEach(() => db.sql("truncate svc.channels cascade"));

/** @returns the places of messages whose users are gone */
async function store(...messages: { topic?: string; body?: string; user?: string }[]): Promise<number[]> {
  const all = messages.map((message) => ({
    name: "room",
    topic: "a",
    message: "said",
    body: "1",
    keep: 3_600_000,
    max: 100,
    ...message,
  }));
  const [row] = await db.sql("select svc.store_messages($1) as gone", [JSON.stringify(all)]);
  return row?.gone;
}
const ids = async () =>
  (await db.sql<{ id: string }>("select id from svc.channel_messages order by channel_id, id")).map(({ id }) =>
    Number(id),
  );
const expire = (id: number | undefined) =>
  db.sql("update svc.channel_messages set expires_at = now() - interval '1 minute' where id = $1", [id]);
async function read(after: number | null | undefined, bytes = 1000) {
  const [row] = await db.sql("select svc.read_messages('a', $1, 9, $2) as page", [after, bytes]);
  const { gap, more, messages } = JSON.parse(row?.page);
  return { gap, more, bodies: messages.map(({ body }: { body: number }) => body) };
}

test("what has expired is not read, and is a gap only for a page that has not seen it", async () => {
  await store({ body: "1" }, { body: "2" }, { body: "3" });
  const [first, second] = await ids();
  await expire(first);
  expect(await read(null)).toEqual({ gap: false, more: false, bodies: [2, 3] });
  expect(await read(0)).toEqual({ gap: true, more: false, bodies: [2, 3] });
  expect(await read(first)).toEqual({ gap: false, more: false, bodies: [2, 3] });
  expect(await read(second)).toEqual({ gap: false, more: false, bodies: [3] });
});

test("there are more messages only if some of them have not expired", async () => {
  await store({ body: "1" }, { body: "2" }, { body: "3" });
  expect(await read(null, 1)).toEqual({ gap: false, more: true, bodies: [1] });
  const [, second, third] = await ids();
  for (const id of [second, third]) await expire(id);
  expect(await read(null, 1)).toEqual({ gap: false, more: false, bodies: [1] });
});

test("the sweep removes what has expired in its channel alone, and remembers what it has removed", async () => {
  await store({ body: "1" }, { topic: "b" }, { body: "2" });
  await db.sql(
    "update svc.channel_messages set id = 7 where id in (select min(id) from svc.channel_messages group by channel_id)",
  );
  await db.sql(`update svc.channel_messages set expires_at = '2020-01-01'
    where id = 7 and channel_id = (select id from svc.channels where topic = 'a')`);
  await db.sql("select svc_private.sweep_messages(100)");
  const left = await db.sql(
    "select c.topic, m.body from svc.channel_messages m join svc.channels c on c.id = m.channel_id order by 1",
  );
  expect(left).toEqual([
    { topic: "a", body: "2" },
    { topic: "b", body: "1" },
  ]);
});

test("messages of users who are gone are not stored, and told to the sender; those of others are", async () => {
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test')`);
  expect(await store({ body: "1", user: "ann" }, { body: "2", user: "gone" }, { body: "3" })).toEqual([1]);
  expect((await read(null)).bodies).toEqual([1, 3]);
});
