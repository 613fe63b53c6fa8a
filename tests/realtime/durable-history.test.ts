// If this file fails, who joins a durable channel or comes back to it misses messages, or reads those that it may not.
import { describe, expect, test } from "vitest";
import { channelLimits } from "../../src/realtime/channel-limits.ts";
import { database } from "../support/database.ts";
import { liveServices, teamsOf } from "../support/live.ts";
import { apiWith, type User } from "../support/service.ts";
import { cutReader, sockets } from "../support/sockets.ts";
import { channels, procedures } from "./durable-application.ts";
import { join, joinAll, live, said, say } from "./durable-pages.ts";

const db = database();
const api = apiWith({ procedures, channels });
const [running, other] = liveServices(db, api);
const connect = sockets(running);
const elsewhere = sockets(other);

let count = 0;
const wall = () => `wall::{"id":"${++count}"}`;
const archive = () => `archive::{"id":"${++count}"}`;
/** A team with a board, and these members. */
const team = teamsOf(db, "diary");
const remove = (user: User, id: string) =>
  db.sql("delete from memberships where user_id = $1 and team_id = $2", [user.id, id]);
const texts = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));
/** Adds messages by hand, as a process without sockets. */
async function add(topic: string, all: readonly string[], options: object = {}): Promise<void> {
  const message = { name: topic.split("::")[0], topic, message: "said", keep: 3_600_000, max: 10_000, ...options };
  const messages = all.map((text) => ({ ...message, body: JSON.stringify({ json: { text } }) }));
  const system = await db.connect("system");
  await system.query("select svc.store_messages($1)", [JSON.stringify(messages)]);
}
const stored = (topic: string) =>
  db.sql("select m.id from svc.channel_messages m join svc.channels c on c.id = m.channel_id where topic = $1", [
    topic,
  ]);

describe("who joins", () => {
  test("gets the newest messages that were asked for, then the live ones", async () => {
    const key = wall();
    await add(key, texts(1, 5));
    const socket = await connect(null);
    expect(said((await join(socket, key, { last: 3 })).messages)).toEqual(["3", "4", "5"]);
    await say(socket, key, "6");
    expect(said(await live(socket, 1))).toEqual(["6"]);
    expect((await join(await elsewhere(null), key)).messages).toEqual([]);
    expect(said((await join(await elsewhere(null), key, { last: 1_000 })).messages)).toEqual(texts(1, 6));
  });

  test("has neither a gap nor a repetition, while others send in all processes", async () => {
    const key = archive();
    const senders = [await connect(null), await elsewhere(null), await connect(null)];
    for (const socket of senders) await join(socket, key);
    let isOver = false;
    let sent = 0;
    const sending = senders.map(async (socket) => {
      while (!isOver && sent < 900) await say(socket, key, String(++sent));
    });
    const joined = [];
    for (let n = 0; n < 8; n++) {
      const socket = await (n % 2 ? connect : elsewhere)(null);
      joined.push({ socket, pages: await joinAll(socket, key, { last: 1_000 }) });
      if (n === 4) await cutReader(db);
    }
    isOver = true;
    await Promise.all(sending);
    const all = (await stored(key)).map(({ id }) => Number(id)).sort((a, b) => a - b);
    expect(all.length).toBe(sent);
    for (const { socket, pages } of joined) {
      // As the SDK does it: after a gap it asks for what comes after the last one that it has, and ignores what it has.
      const has = new Set(pages.flatMap(({ messages }) => messages.map(({ id }) => id)));
      const until = pages.at(-1)?.until ?? 0;
      const came = await live(socket, 0);
      expect(came.map(({ id }) => id)).toEqual([...new Set(came.map(({ id }) => id))].sort((a, b) => a - b));
      const isCut = socket.frames.some(({ type }) => type === "resync");
      const later = isCut ? (await joinAll(socket, key, { after: until })).flatMap(({ messages }) => messages) : [];
      if (!isCut) await live(socket, all.filter((id) => id > until).length);
      for (const { id } of [...(await live(socket, 0)), ...later]) has.add(id);
      expect([...has].sort((a, b) => a - b)).toEqual(all);
    }
  });

  test("reads many messages in pages, none of which is larger than a client may leave unread", async () => {
    const key = archive();
    const large = texts(1, 60).map((text) => text.padStart(8_000, " "));
    await add(key, large);
    await add(key, texts(61, 500));
    const pages = await joinAll(await connect(null), key, { last: 460 });
    expect(pages.flatMap(({ messages }) => said(messages)).map((text) => text.trim())).toEqual(texts(41, 500));
    expect(pages.length).toBeGreaterThan(3);
    for (const one of pages) expect(JSON.stringify(one).length).toBeLessThan(channelLimits.waiting);
  });

  test.each([{ last: 1_001 }, { last: -1 }, { last: "5" }, { after: -1 }, { after: 1.5 }, { after: "x" }])(
    "with %j is refused",
    async (asked) => {
      const [socket, key] = [await connect(null), wall()];
      socket.send({ type: "subscribe", query: key, ...asked });
      await socket.wait({ type: "error", query: key, code: "BAD_REQUEST" });
    },
  );
});

describe("who comes back", () => {
  test("gets what it missed, and hears of a gap if some of that is not kept any more", async () => {
    const key = wall();
    await add(key, texts(1, 4), { max: 10 });
    const { until } = await join(await connect(null), key);
    await add(key, texts(5, 8), { max: 10 });
    const back = await join(await elsewhere(null), key, { after: until, last: 3 });
    expect([back.gap, said(back.messages)]).toEqual([false, texts(5, 8)]);
    await add(key, texts(9, 14), { max: 10 });
    expect(said((await join(await connect(null), key, { after: until, last: 3 })).messages)).toEqual(texts(5, 14));
    await add(key, ["15"], { max: 10 });
    const late = await join(await connect(null), key, { after: until, last: 3 });
    expect([late.gap, said(late.messages)]).toEqual([true, ["13", "14", "15"]]);
    expect((await join(await connect(null), key, { after: late.last + 5 })).gap).toBe(true); // of a database before
    expect((await stored(key)).length).toBe(10);
  });

  test("to a channel that was empty gets all from the first on", async () => {
    const key = wall();
    const { until } = await join(await connect(null), key);
    expect(until).toBe(0);
    await add(key, texts(1, 3), { max: 10 });
    const back = await join(await connect(null), key, { after: 0 });
    expect([back.gap, said(back.messages)]).toEqual([false, texts(1, 3)]);
    await add(key, texts(4, 12), { max: 10 });
    expect((await join(await connect(null), key, { after: 0 })).gap).toBe(true);
  });

  test("asks over the same connection, after changes were not read for a while", async () => {
    const key = archive();
    const socket = await connect(null);
    await add(key, ["1"]);
    const { until } = await join(socket, key);
    const writer = await db.pool("admin", 1).connect(); // the new reader waits for its transaction
    await writer.query("begin; insert into guestbook (message) values ('waits')");
    await cutReader(db);
    await socket.wait({ type: "status", flow: "degraded" });
    await add(key, ["2"]);
    await writer.query("commit");
    writer.release();
    await expect.poll(() => socket.frames.some(({ type }) => type === "resync"), { timeout: 20_000 }).toBe(true);
    expect(said((await join(socket, key, { after: until })).messages)).toEqual(["2"]);
  });
});

describe("what is too old", () => {
  test("is not read, and a sweep removes it; a channel that is empty begins again with higher numbers", async () => {
    const key = wall();
    await add(key, texts(1, 3), { max: 10 });
    const { until } = await join(await connect(null), key, { last: 10 });
    const end = (most: number) =>
      db.sql(
        `update svc.channel_messages m set expires_at = now() from svc.channels c
          where c.id = m.channel_id and c.topic = $1 and m.id <= $2`,
        [key, most],
      );
    await end(until - 1);
    expect(said((await join(await connect(null), key, { last: 10 })).messages)).toEqual(["3"]);
    expect((await join(await connect(null), key, { after: until - 2 })).gap).toBe(true);
    expect(await sweep(1)).toEqual([1, 1, 0]);
    const back = await join(await connect(null), key, { after: until - 2, last: 10 });
    expect([back.gap, said(back.messages)]).toEqual([true, ["3"]]);
    expect((await join(await connect(null), key, { after: until - 1 })).gap).toBe(false);
    await end(until);
    await sweep(1_000);
    expect(await db.sql("select from svc.channels where topic = $1", [key])).toEqual([]);
    expect(await join(await connect(null), key, { after: until })).toMatchObject({ gap: true, until: 0, messages: [] });
    await add(key, ["new"], { max: 10 });
    const anew = await join(await connect(null), key, { after: until, last: 10 });
    expect([anew.gap, said(anew.messages), anew.until > until]).toEqual([true, ["new"], true]);
  });

  test("is removed without a message that comes meanwhile", async () => {
    const key = wall();
    await add(key, ["old"], { max: 10 });
    const admin = await db.connect("admin");
    await admin.query("delete from svc.channel_messages");
    const sender = await db.connect("system");
    await sender.query("begin");
    const message = { name: "wall", topic: key, message: "said", body: "{}", keep: 3_600_000, max: 10 };
    await sender.query("select svc.store_messages($1)", [JSON.stringify([message])]);
    expect(await sweep(10)).toEqual([0]);
    await sender.query("commit");
    await sweep(10);
    expect((await stored(key)).length).toBe(1);
  });

  async function sweep(most: number): Promise<number[]> {
    const system = await db.connect("system");
    const removed: number[] = [];
    do removed.push(Number((await system.query("select svc_private.sweep_messages($1) as n", [most])).rows[0].n));
    while (removed.at(-1) === most);
    return removed;
  }
});

describe("who may not be there", () => {
  test("reads nothing that is stored", async () => {
    const [ann, eve] = [await running.signUp("ann"), await running.signUp("eve")];
    const { id, key } = await team(ann);
    await running.mutate(ann, "test.note", { ids: [id], text: "secret" });
    const socket = await connect(eve);
    for (const asked of [{ last: 10 }, { after: 0 }, { after: 1, last: 10 }]) {
      socket.send({ type: "subscribe", query: key, ...asked });
      await socket.wait({ type: "error", query: key, code: "FORBIDDEN" });
    }
    expect(socket.frames).toEqual([]);
  });

  test("reads nothing that committed after the removal, though it asks as a member", async () => {
    const [ann, eve] = [await running.signUp("ann"), await running.signUp("eve")];
    for (let n = 0; n < 10; n++) {
      const { id, key } = await team(ann, eve);
      const socket = await connect(eve);
      await running.mutate(ann, "test.note", { ids: [id], text: "before" });
      const { until } = await join(socket, key, { last: 10 });
      const asking = setInterval(() => {
        socket.send({ type: "subscribe", query: key, follows: "a secret of the test", after: until });
      }, 2);
      await remove(eve, id);
      await running.mutate(ann, "test.note", { ids: [id], text: "after" });
      await expect.poll(() => socket.frames.some(({ code }) => code === "FORBIDDEN")).toBe(true);
      clearInterval(asking);
      expect(JSON.stringify(socket.frames)).not.toContain('"text":"after"');
      socket.close();
    }
  });

  test("leaves no message behind: they go with the account, and others stay", async () => {
    const [ann, eve] = [await running.signUp("ann"), await running.signUp("eve")];
    const { id, key } = await team(ann, eve);
    const [one, two] = [await connect(ann), await connect(eve)];
    await join(one, key);
    await join(two, key);
    await say(one, key, "1");
    await say(two, key, "2");
    await running.mutate(ann, "test.note", { ids: [id], text: "3" });
    const [first] = await live(one, 3);
    await db.sql(`delete from auth."user" where id = $1`, [eve.id]);
    const back = await join(await connect(ann), key, { after: first?.id });
    expect([back.gap, said(back.messages)]).toEqual([false, ["3"]]);
  });
});

test("the system reads and removes messages, writes none, and requests do neither", async () => {
  const system = await db.connect("system");
  await system.query("select m.*, c.topic from svc.channel_messages m join svc.channels c on c.id = m.channel_id");
  await system.query("delete from svc.channel_messages where user_id = 'nobody'");
  const refused = { code: "42501" };
  await expect(system.query("update svc.channel_messages set body = ''")).rejects.toMatchObject(refused);
  await expect(system.query("delete from svc.channels")).rejects.toMatchObject(refused);
  await expect(system.query("select svc.read_messages('x', null, 1, 1)")).rejects.toMatchObject(refused);
  const request = await db.connect("request");
  for (const role of ["svc_anonymous", "svc_authenticated"]) {
    for (const text of [
      "select from svc.channel_messages",
      "select from svc.channels",
      "select svc.read_messages('x', null, 1, 1)",
      "select svc.store_messages('[]')",
    ]) {
      await request.query(`begin; set local role ${role}`);
      await expect(request.query(text)).rejects.toMatchObject(refused);
      await request.query("rollback");
    }
  }
});
