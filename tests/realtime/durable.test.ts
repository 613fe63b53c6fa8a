// If this file fails, a message of a durable channel is lost, comes twice, or reaches those who may not be there.
import { describe, expect, test } from "vitest";
import { channelLimits } from "../../src/realtime/channel-limits.ts";
import { database } from "../support/database.ts";
import { liveServices, teamsOf } from "../support/live.ts";
import { apiWith, type User } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { channels, procedures } from "./durable-application.ts";
import { join, live, said, say } from "./durable-pages.ts";

const db = database();
const api = apiWith({ procedures, channels });
const [running, other] = liveServices(db, api);
const connect = sockets(running);
const elsewhere = sockets(other);
/** By the session token: the JWT is of the other service's address. */
const connectElsewhere = (user: User) => elsewhere({ ...user, token: user.sessionToken });

let walls = 0;
/** A team with a board, and these members. */
const team = teamsOf(db, "diary");
const wall = () => `wall::{"id":"${++walls}"}`;

const rows = (key: string) =>
  db.sql<{ id: string; text: string }>(
    `select m.id, m.body::json -> 'json' ->> 'text' as text
       from svc.channel_messages m join svc.channels c on c.id = m.channel_id where c.topic = $1 order by m.id`,
    [key],
  );

describe("a message", () => {
  test("is a row, and reaches all members in all processes with the row's number, also its sender", async () => {
    const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
    const { id, key } = await team(ann, bob);
    const [one, two] = [await connect(ann), await connectElsewhere(bob)];
    expect(await join(one, key)).toEqual({ after: null, until: 0, last: 0, gap: false, more: false, messages: [] });
    await join(two, key);
    await say(one, key, "hello");
    await running.mutate(bob, "test.note", { ids: [id], text: "moved" });
    const [heard, own] = [await live(two, 2), await live(one, 2)];
    const from = { id: ann.id, userId: ann.id };
    const [first, second] = await rows(key);
    expect(heard).toEqual([
      { id: Number(first?.id), at: expect.any(Number), message: "said", body: { json: { text: "hello" } }, from },
      {
        id: Number(second?.id),
        at: expect.any(Number),
        message: "moved",
        body: { json: { text: "moved" } },
        from: null,
      },
    ]);
    expect(own).toEqual(heard);
    expect(Math.abs(Date.now() - (heard[0]?.at ?? 0))).toBeLessThan(3_600_000);
    expect((await join(await connect(bob), key, { last: 50 })).messages).toEqual(heard);
  });

  test("of a handler that fails is neither stored nor delivered, nor one that a savepoint takes back", async () => {
    const ann = await running.signUp("ann");
    const { id, key } = await team(ann);
    const socket = await connectElsewhere(ann);
    await join(socket, key);
    expect((await running.mutate(ann, "test.note", { ids: [id], text: "lost", fail: true })).status).toBe(500);
    expect((await running.query(ann, "test.noteInQuery")).body).toMatchObject({ code: "QUERY_WROTE" });
    await running.mutate(ann, "test.noteNested", { id, text: "taken back", after: "kept" });
    expect(said(await live(socket, 1))).toEqual(["kept"]);
    expect((await rows(key)).map(({ text }) => text)).toEqual(["kept"]);
  });

  test("may hold every text that JSON has, and none fails those of others", async () => {
    const key = wall();
    const [one, two] = [await connect(null), await connect(null)];
    await join(one, key);
    await join(two, key);
    const odd = ["\u0000 \ud800 \\u0000", "'\"\\", "😀 한국어 \u2028", ""];
    await Promise.all(odd.map((text) => say(one, key, text)));
    expect(said(await live(two, 4)).sort()).toEqual([...odd].sort());
    expect(said((await join(await connect(null), key, { last: 4 })).messages).sort()).toEqual([...odd].sort());
    one.send({
      type: "send",
      query: key,
      event: "said",
      data: { text: "x".repeat(channelLimits.message) },
      ref: "big",
    });
    await expect.poll(() => one.frames.some(({ data }) => data?.code === "PAYLOAD_TOO_LARGE")).toBe(true);
  });

  test("of a user whose account is gone is refused, and the others of its statement are stored", async () => {
    const message = (user: string, text: string) => ({
      ...{ name: "wall", topic: "wall::gone", message: "said", body: JSON.stringify({ json: { text } }), user },
      ...{ keep: 3_600_000, max: 10 },
    });
    const ann = await running.signUp("ann");
    const all = JSON.stringify([message("nobody", "lost"), message(ann.id, "stored"), message("nobody", "lost")]);
    const system = await db.connect("system");
    expect((await system.query("select svc.store_messages($1) as refused", [all])).rows).toEqual([{ refused: [0, 2] }]);
    expect((await rows("wall::gone")).map(({ text }) => text)).toEqual(["stored"]);
  });
});

test("the log says once that durable channels cannot send, and once that they can", async () => {
  const [socket, key] = [await connect(null), wall()];
  await join(socket, key);
  const lines = () =>
    running.logged.map((line) => JSON.parse(line).msg).filter((text) => /^durable channels /.test(text));
  const send = (ref: string) => socket.send({ type: "send", query: key, event: "said", data: { text: ref }, ref });
  await db.sql("revoke execute on function svc.store_messages(jsonb) from svc_system");
  for (const ref of ["one", "two"]) {
    send(ref);
    await expect.poll(() => socket.frames.some(({ data }) => data?.failed === ref)).toBe(true);
  }
  await db.sql("grant execute on function svc.store_messages(jsonb) to svc_system");
  send("three");
  await socket.wait({ data: { sent: "three" } });
  expect(lines()).toEqual(["durable channels cannot send: messages fail", "durable channels send again"]);
});

test("an account that is being deleted, with its messages, makes no sender wait, also if its own transaction sends last", async () => {
  const ann = await running.signUp("ann");
  const message = (text: string, more: object = {}) =>
    JSON.stringify([
      {
        ...{ name: "wall", topic: "wall::left", message: "said", body: JSON.stringify({ json: { text } }) },
        ...{ keep: 3_600_000, max: 1, ...more },
      },
    ]);
  const store = "select svc.store_messages($1)";
  const [leaving, sender] = [await db.connect("admin"), await db.connect("system")];
  await sender.query(store, [message("hers", { user: ann.id })]);
  await leaving.query("begin");
  await leaving.query('delete from auth."user" where id = $1', [ann.id]);
  await sender.query("set lock_timeout to '5s'");
  await sender.query(store, [message("another's")]); // there is no room for hers
  const late = await sender.query(`${store} as refused`, [message("hers, too late", { user: ann.id })]);
  expect(late.rows).toEqual([{ refused: [0] }]);
  await leaving.query(store, [message("she left")]);
  await leaving.query("commit");
  expect((await rows("wall::left")).map(({ text }) => text)).toEqual(["she left"]);
});

describe("the order", () => {
  test("is that of commits: who has one message has all before it, also of a transaction that began earlier", async () => {
    const ann = await running.signUp("ann");
    const { id, key } = await team(ann);
    const socket = await connect(ann);
    await join(socket, key);
    const slow = running.mutate(ann, "test.note", { ids: [id], text: "slow", wait: 700 });
    await running.mutate(ann, "test.note", { ids: [id], text: "quick" });
    const [quick] = await live(socket, 1);
    expect(quick?.body.json.text).toBe("quick");
    expect((await slow).status).toBe(200);
    const back = await join(await connectElsewhere(ann), key, { after: quick?.id });
    expect(said(back.messages)).toEqual(["slow"]);
    expect(back).toMatchObject({ gap: false, until: (quick?.id ?? 0) + 1 });
  });

  test("has no lower number that commits after a higher one: the second transaction waits for the first", async () => {
    const message = (text: string) =>
      JSON.stringify([
        {
          name: "wall",
          topic: "wall::order",
          message: "said",
          body: JSON.stringify({ json: { text } }),
          keep: 3_600_000,
          max: 10,
        },
      ]);
    const [one, two] = [await db.connect("system"), await db.connect("system")];
    await one.query("begin");
    await two.query("begin");
    await one.query("select svc.store_messages($1)", [message("first")]);
    let isStored = false;
    const second = two.query("select svc.store_messages($1)", [message("second")]).then(() => {
      isStored = true;
    });
    const waiting = () =>
      db.sql(
        "select from pg_locks l join pg_stat_activity a using (pid) where not granted and a.query ~ 'store_messages'",
      );
    await expect.poll(async () => (await waiting()).length).toBe(1);
    expect([isStored, await rows("wall::order")]).toEqual([false, []]);
    await one.query("rollback");
    await second;
    await two.query("commit");
    expect((await rows("wall::order")).map(({ text }) => text)).toEqual(["second"]);
  });

  test("of several channels does not make two transactions wait for each other", async () => {
    const ann = await running.signUp("ann");
    const [a, b] = [await team(ann), await team(ann)];
    const calls = Array.from({ length: 40 }, (_, n) =>
      running.mutate(ann, "test.note", { ids: n % 2 ? [a.id, b.id] : [b.id, a.id], text: String(n) }),
    );
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]));
    expect([(await rows(a.key)).length, (await rows(b.key)).length]).toEqual([40, 40]);
  });
});
