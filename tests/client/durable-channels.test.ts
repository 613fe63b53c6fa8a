// @vitest-environment jsdom
/** Durable channels with the SDK and with React: a page has each message once, in order, through breaks of its connection. */
import { act, cleanup, configure, screen } from "@testing-library/react";
import { createElement as h, useState } from "react";
import { afterEach, expect, test } from "vitest";
import { useChannel } from "../../client/react/src/index.ts";
import { type ChannelOf, channel, joinChannel } from "../../client/sdk/src/index.ts";
import { type channels, procedures, channels as registered } from "../realtime/durable-application.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { liveService } from "../support/live.ts";
import { apiWith, type TestService } from "../support/service.ts";
import { cutReader } from "../support/sockets.ts";
import { connectTo, show } from "./react-client.ts";

const db = database();
const api = apiWith({ procedures, channels: registered });
const running = liveService(db, api);
configure({ asyncUtilTimeout: 20_000 });
const open: ReturnType<typeof connectTo>[] = [];
afterEach(() => {
  cleanup();
  for (const { client } of open.splice(0)) client.close();
});

const archive = channel("archive") as ChannelOf<(typeof channels)["archive"]>;
const wall = channel("wall") as ChannelOf<(typeof channels)["wall"]>;
const diary = channel("diary") as ChannelOf<(typeof channels)["diary"]>;
const connect = (service = running) => {
  const one = connectTo(service);
  open.push(one);
  return one;
};
let n = 0;
const place = () => ({ id: `place ${++n}` });
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => String(from + at));
type Room = { getState(): { messages: readonly { data: { text: string } }[] } };
const texts = (room: Room) => room.getState().messages.map(({ data }) => data.text);
const has = (room: Room, expected: string[]) => expect.poll(() => texts(room), { timeout: 20_000 }).toEqual(expected);
const joined = (room: { getState(): { status: string } }) => expect.poll(() => room.getState().status).toBe("joined");

/** Adds messages as another process would. */
async function add(name: string, { id }: { id: string }, all: string[], max = 10_000): Promise<void> {
  const message = { name, topic: `${name}::{"id":"${id}"}`, message: "said", keep: 3_600_000, max };
  const messages = all.map((text) => ({ ...message, body: JSON.stringify({ json: { text } }) }));
  await (await db.connect("system")).query("select svc.store_messages($1)", [JSON.stringify(messages)]);
}

test("a page begins with the messages that it asked for, and is called for each that comes later, also its own", async () => {
  const input = place();
  await add("archive", input, numbers(1, 5));
  const { client } = connect();
  const room = joinChannel(client, archive, input, { history: 3 });
  const heard: unknown[] = [];
  room.on("said", ({ text }, from, { id, at }) => heard.push([text, from?.userId, typeof id, at instanceof Date]));
  await has(room, ["3", "4", "5"]);
  await room.send("said", { text: "mine" });
  await add("archive", input, ["6"]);
  await has(room, ["3", "4", "5", "mine", "6"]);
  expect(heard).toEqual([
    ["mine", null, "number", true],
    ["6", undefined, "number", true],
  ]);
  // Another part of the page shares it, and asks for more.
  const more = joinChannel(client, archive, input, { history: 100 });
  await has(more, [...numbers(1, 5), "mine", "6"]);
  expect([texts(room), heard.length]).toEqual([texts(more), 2]);
  const without = joinChannel(client, archive, place());
  await joined(without);
  await without.send("said", { text: "alone" });
  await has(without, ["alone"]);
});

test("a part of a page that asks for fewer messages than came takes none from the others", async () => {
  const input = place();
  await add("archive", input, ["before"]);
  const { client } = connect();
  const room = joinChannel(client, archive, input);
  await joined(room);
  await add("archive", input, numbers(1, 5));
  await has(room, numbers(1, 5));
  const heard: string[] = [];
  room.on("said", ({ text }) => heard.push(text));
  const few = joinChannel(client, archive, input, { history: 3 });
  await few.send("said", { text: "mine" });
  await expect.poll(() => heard).toEqual(["mine"]);
  expect(texts(room)).toEqual([...numbers(1, 5), "mine"]);
  const all = joinChannel(client, archive, input, { history: 100 });
  await has(all, ["before", ...numbers(1, 5), "mine"]);
  expect([texts(few).length, heard]).toEqual([7, ["mine"]]);
});

test("after a break a page gets what it missed, each once and in order", async () => {
  const proxy = await FlakyProxy.start(running.url);
  const input = place();
  const room = joinChannel(connect({ url: proxy.url } as TestService).client, archive, input, {
    history: 10,
    onMissed: () => missed++,
  });
  let missed = 0;
  const heard: string[] = [];
  room.on("said", ({ text }) => heard.push(text));
  await joined(room);
  let sent = 0;
  for (let round = 0; round < 6; round++) {
    await add("archive", input, numbers(sent + 1, sent + 150));
    if (round % 2) await cutReader(db);
    else proxy.breakSome(1);
    await add("archive", input, numbers(sent + 151, sent + 160));
    sent += 160;
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(sent);
  }
  expect(heard).toEqual(numbers(1, sent));
  await has(room, numbers(1, sent));
  expect(missed).toBe(0);
  await add("archive", input, numbers(sent + 1, 1_100));
  await has(room, numbers(101, 1_100));
  await proxy.stop();
});

test("a page that missed more than is kept is told so, and begins anew", async () => {
  const proxy = await FlakyProxy.start(running.url);
  const input = place();
  await add("wall", input, numbers(1, 3), 10);
  const flaky = connect({ url: proxy.url } as TestService).client;
  let missed = 0;
  const room = joinChannel(flaky, wall, input, { history: 4, onMissed: () => missed++ });
  await has(room, numbers(1, 3));
  proxy.fault = () => ({ kind: "refuse" });
  proxy.breakSome(1);
  await expect.poll(() => room.getState().status).toBe("joining");
  await add("wall", input, numbers(4, 20), 10);
  proxy.fault = () => ({ kind: "none" });
  await has(room, numbers(17, 20));
  expect(missed).toBe(1);
  await proxy.stop();
});

test("a page that has read messages which a restored backup does not have is told so, and has those of the backup", async () => {
  const proxy = await FlakyProxy.start(running.url);
  const input = place();
  await add("archive", input, numbers(1, 3));
  const room = joinChannel(connect({ url: proxy.url } as TestService).client, archive, input, {
    history: 10,
    onMissed: () => missed++,
  });
  let missed = 0;
  const heard: string[] = [];
  room.on("said", ({ text }) => heard.push(text));
  await has(room, numbers(1, 3));
  await db.sql("create table kept_channels as table svc.channels; create table kept as table svc.channel_messages");
  await add("archive", input, ["lost 1", "lost 2"]);
  await has(room, [...numbers(1, 3), "lost 1", "lost 2"]);
  proxy.fault = () => ({ kind: "refuse" });
  proxy.breakSome(1);
  await expect.poll(() => room.getState().status).toBe("joining");
  await db.sql(`truncate svc.channels, svc.channel_messages;
    insert into svc.channels overriding system value select * from kept_channels;
    insert into svc.channel_messages select * from kept`);
  await add("archive", input, numbers(4, 9)); // more than were lost
  proxy.fault = () => ({ kind: "none" });
  await has(room, numbers(1, 9));
  expect(missed).toBe(1);
  await add("archive", input, ["10"]);
  await has(room, numbers(1, 10));
  expect(heard).toEqual(["lost 1", "lost 2", ...numbers(4, 10)]);
  await proxy.stop();
});

test("what a user has read is not shown to the next one, nor to one who is removed", async () => {
  await db.sql("insert into boards (team_id, name) values ('greens', 'plans')");
  const one = connect();
  const { id } = await one.signUp();
  await db.sql("insert into memberships (user_id, team_id) values ($1, 'greens')", [id]);
  await add("diary", { id: "greens" }, ["secret"]);
  const room = joinChannel(one.client, diary, { id: "greens" }, { history: 10 });
  await has(room, ["secret"]);
  await db.sql("delete from memberships where user_id = $1", [id]);
  await expect.poll(() => room.getState()).toMatchObject({ status: "refused", messages: [] });
  await db.sql("insert into memberships (user_id, team_id) values ($1, 'greens')", [id]);
  room.leave();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const again = joinChannel(one.client, diary, { id: "greens" }, { history: 10 });
  await has(again, ["secret"]);
  await one.signUp();
  await expect.poll(() => again.getState()).toMatchObject({ status: "refused", messages: [] });
});

test("a component shows the messages, and reads more when it asks for more", async () => {
  const input = place();
  await add("archive", input, numbers(1, 6));
  const { client } = connect();
  let ask: (history: number) => void = () => {};
  const shown: string[] = [];
  function Archive() {
    const [history, setHistory] = useState(2);
    ask = setHistory;
    const { messages, send, status } = useChannel(archive, input, { history });
    const text = messages.map(({ data }) => data.text).join(" ");
    shown.push(text);
    return h("button", { type: "button", onClick: () => void send("said", { text: "mine" }) }, `${status}: ${text}`);
  }
  show(client, Archive);
  await screen.findByText("joined: 5 6");
  screen.getByRole("button").click();
  await screen.findByText("joined: 5 6 mine");
  shown.length = 0;
  act(() => ask(50));
  await screen.findByText("joined: 1 2 3 4 5 6 mine");
  expect(shown.filter((text) => text === "")).toEqual([]);
});
