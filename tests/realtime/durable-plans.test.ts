// If this file fails, durable channels read whole tables, and slow down as these grow.
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const perChannel = 10_000;
const message = (topic: string) =>
  JSON.stringify([{ name: "room", topic, message: "said", body: "{}", keep: 3_600_000, max: perChannel }]);
let last = 0;

beforeAll(async () => {
  for (const topic of ["a", "b", "c"]) await db.sql("select svc.store_messages($1)", [message(topic)]);
  await db.sql(`insert into svc.channel_messages (channel_id, id, message, body, sent_at, expires_at)
    select c.id, c.last + n, 'said', '{}', now(), now() + interval '1 hour' + n * interval '1 second'
      from svc.channels c, generate_series(1, ${perChannel - 1}) n`);
  await db.sql(`update svc.channels set last = last + ${perChannel - 1}`);
  await db.sql("analyze svc.channels; analyze svc.channel_messages");
  last = Number((await db.sql<{ last: string }>("select last from svc.channels where topic = 'b'"))[0]?.last);
});

/** Rows of messages that a statement has read, in any way. */
async function read(client: pg.Client, statement: string, values: unknown[] = []): Promise<number> {
  const count = async () => {
    const text = `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_all_tables where relid = 'svc.channel_messages'::regclass`;
    return (await client.query(text)).rows[0].read;
  };
  const before = await count();
  await client.query(statement, values);
  return (await count()) - before;
}

test("a page, one more message and a sweep that finds nothing read few rows", async () => {
  const client = await db.connect("admin");
  await client.query("begin");
  expect(await read(client, "select svc.read_messages('b', null, 10, 100000)")).toBeLessThan(30);
  expect(await read(client, `select svc.read_messages('b', ${last - 10}, 10, 100000)`)).toBeLessThan(40);
  expect(await read(client, "select svc.read_messages('none', 5, 10, 100000)")).toBe(0);
  expect(await read(client, "select svc_private.sweep_messages(1000)")).toBeLessThan(10);
  // Also where earlier ones are dead and not cleaned up yet.
  for (let n = 0; n < 20; n++)
    expect(await read(client, "select svc.store_messages($1)", [message("b")])).toBeLessThan(5);
  expect(await read(client, "select svc_private.overdue_messages()")).toBeLessThan(5);
  await client.query("rollback");
});

test("a channel keeps as many as it may", async () => {
  for (let n = 0; n < 3; n++) await db.sql("select svc.store_messages($1)", [message("b")]);
  const counts = await db.sql(
    `select c.topic, count(*)::int as count, (max(m.id) - min(m.id))::int as span
       from svc.channels c join svc.channel_messages m on m.channel_id = c.id group by 1 order by 1`,
  );
  const full = { count: perChannel, span: perChannel - 1 };
  expect(counts).toEqual(["a", "b", "c"].map((topic) => ({ topic, ...full })));
});
