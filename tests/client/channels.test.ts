// @vitest-environment jsdom
/** Channels with the SDK and with React, against real services: what a page shows through breaks of its connection. */
import { act, cleanup, configure, screen } from "@testing-library/react";
import { createElement as h, useState } from "react";
import { afterEach, expect, test } from "vitest";
import WebSocket from "ws"; // the document's own WebSocket sends another origin
import { skip, useChannel } from "../../client/react/src/index.ts";
import {
  type ChannelOf,
  channel,
  createSvcClient,
  type JoinedChannel,
  joinChannel,
} from "../../client/sdk/src/index.ts";
import { type channels, procedures, channels as registered } from "../realtime/channel-application.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { liveService } from "../support/live.ts";
import { apiWith, type TestService } from "../support/service.ts";
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

const lobby = channel("lobby") as ChannelOf<(typeof channels)["lobby"]>;
const team = channel("team") as ChannelOf<(typeof channels)["team"]>;
const connect = (service = running) => {
  const one = connectTo(service);
  open.push(one);
  return one;
};
type Lobby = JoinedChannel<NonNullable<(typeof lobby)["~types"]>>;
let n = 0;
const names = (room: Lobby) =>
  room
    .getState()
    .members.map(({ state }) => state?.name ?? "")
    .sort();
const joined = (room: Lobby) => expect.poll(() => room.getState().status).toBe("joined");

test("members talk, and see what others show", async () => {
  const input = { n: --n };
  const [one, two] = [connect().client, connect().client];
  const [first, second] = [joinChannel(one, lobby, input, { state: { name: "Ann" } }), joinChannel(two, lobby, input)];
  const heard: unknown[] = [];
  const stop = second.on("said", ({ text }, from) => heard.push([text, from?.userId]));
  await joined(first);
  await joined(second);
  await expect
    .poll(() => [names(first), names(second)])
    .toEqual([
      ["", "Ann"],
      ["", "Ann"],
    ]);
  await second.track({ name: "Bob" });
  await expect.poll(() => names(first)).toEqual(["Ann", "Bob"]);
  await first.send("said", { text: "hello" });
  await expect.poll(() => heard).toEqual([["hello", null]]);
  stop();
  const again = joinChannel(one, lobby, input); // shares it
  first.leave();
  await expect(first.send("said", { text: "gone" })).rejects.toMatchObject({ code: "FORBIDDEN" });
  await again.send("said", { text: "still there" });
  again.leave();
  await expect.poll(() => names(second)).toEqual(["Bob"]);
  expect(heard.length).toBe(1);
});

test("a refusal says why, and a message that was not sent rejects", async () => {
  const { client } = connect();
  const refused = joinChannel(client, lobby, { n: 100 });
  await expect.poll(() => refused.getState()).toMatchObject({ status: "refused", error: { code: "FORBIDDEN" } });
  const room = joinChannel(client, lobby, { n: --n });
  await expect(room.send("said", { text: "too early" })).rejects.toMatchObject({ code: "NETWORK_ERROR" });
  await joined(room);
  await expect(room.send("said", { text: 7 as never })).rejects.toMatchObject({
    code: "VALIDATION_FAILED",
    issues: [{ path: ["text"] }],
  });
  await expect(room.send("shout" as never, {} as never)).rejects.toMatchObject({
    code: "NOT_FOUND",
    hint: "They send: said.",
  });
});

test("after a break the client is back, with what it shows, and hears that it may have missed something", async () => {
  const proxy = await FlakyProxy.start(running.url);
  const input = { n: --n };
  const watcher = joinChannel(connect().client, lobby, input);
  await joined(watcher);
  const seen: string[][] = [];
  watcher.subscribe(() => seen.push(names(watcher)));
  let missed = 0;
  const flaky = connect({ url: proxy.url } as TestService);
  const room = joinChannel(flaky.client, lobby, input, { state: { name: "Ann" }, onMissed: () => missed++ });
  await expect.poll(() => names(watcher)).toEqual(["", "Ann"]);
  seen.length = 0;
  proxy.breakSome(1);
  await expect.poll(() => missed).toBe(1);
  await joined(room);
  await room.send("said", { text: "back" });
  expect(seen.every((shown) => shown.includes("Ann"))).toBe(true);
  await proxy.stop();
});

test("who leaves and comes back quickly is there, whatever was left before", async () => {
  const input = { n: --n };
  const { client } = connect();
  const watcher = joinChannel(connect().client, lobby, input);
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const first = joinChannel(client, lobby, input);
  await joined(first);
  first.leave();
  await wait(30);
  joinChannel(client, lobby, input).leave();
  await wait(35);
  const last = joinChannel(client, lobby, input, { state: { name: "Ann" } });
  await wait(200);
  await expect.poll(() => last.getState().status, { timeout: 5_000 }).toBe("joined");
  await last.send("said", { text: "still there" });
  await expect.poll(() => names(watcher), { timeout: 5_000 }).toEqual(["", "Ann"]);
});

test("the newest that a member shows reaches the others, also if it came too fast for the service", async () => {
  const input = { n: --n };
  const watcher = joinChannel(connect().client, lobby, input);
  const room = joinChannel(connect().client, lobby, input);
  await joined(room);
  const shows = Array.from({ length: 300 }, (_, at) => room.track({ name: String(at) }));
  expect((await Promise.allSettled(shows)).at(-1)).toMatchObject({ reason: { code: "RATE_LIMITED" } });
  await expect.poll(() => names(watcher), { timeout: 10_000 }).toEqual(["", "299"]);
  expect(room.getState().error).toBe(null);
});

test("a room stays joined whose request was sent again, and refused because too much was sent", async () => {
  let last: { socket: Noted; frame: string } | undefined;
  class Noted extends WebSocket {
    override send(frame: string): void {
      if (frame.includes('"subscribe"')) last = { socket: this, frame };
      super.send(frame);
    }
  }
  const client = createSvcClient({ api: {}, baseUrl: running.url, WebSocket: Noted as never });
  open.push({ client } as never);
  let missed = 0;
  const room = joinChannel(client, lobby, { n: --n }, { onMissed: () => missed++ });
  await joined(room);
  const states: unknown[] = [];
  room.subscribe(() => states.push(room.getState().error?.code));
  const too = JSON.stringify({ type: "send", query: JSON.parse(last?.frame ?? "").query, event: "said", data: {} });
  for (let times = 0; times < 200; times++) last?.socket.send(too);
  // All of these are one refusal: after the eighth in a row the client would wait for half a minute.
  for (let times = 0; times < 9; times++) last?.socket.send(last.frame);
  await expect.poll(() => states.filter((code) => code === "RATE_LIMITED").length).toBe(9);
  await expect.poll(() => room.getState(), { timeout: 12_000 }).toMatchObject({ status: "joined", error: null });
  await room.send("said", { text: "there" });
  expect(missed).toBe(0); // it was there all the time
});

test("who signs in joins as themselves, and who is removed is refused", async () => {
  const { client, signUp } = connect();
  await db.sql("insert into boards (team_id, name) values ('reds', 'plans')");
  const room = joinChannel(client, team, { id: "reds" });
  await expect.poll(() => room.getState().error?.code).toBe("UNAUTHORIZED");
  const { id } = await signUp();
  await expect.poll(() => room.getState().error?.code).toBe("FORBIDDEN");
  await db.sql("insert into memberships (user_id, team_id) values ($1, 'reds')", [id]);
  room.leave();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const again = joinChannel(client, team, { id: "reds" });
  const moved: string[] = [];
  again.on("moved", ({ to }) => moved.push(to));
  await expect.poll(() => again.getState().status).toBe("joined");
  await expect.poll(() => again.getState().members).toMatchObject([{ id, userId: id, state: null }]);
  await client.mutate({ kind: "mutation", name: "test.tell" } as never, { id: "reds", to: "here" } as never);
  await expect.poll(() => moved).toEqual(["here"]);
  await db.sql("delete from memberships where user_id = $1", [id]);
  await expect
    .poll(() => again.getState())
    .toMatchObject({ status: "refused", members: [], error: { code: "FORBIDDEN" } });
});

test("a component is in a channel while it is mounted", async () => {
  const input = { n: --n };
  const { client } = connect();
  const other = joinChannel(connect().client, lobby, input, { state: { name: "Bob" } });
  const heard: string[] = [];
  let rename: (name: string) => void = () => {};
  let go: (input: { n: number } | typeof skip) => void = () => {};
  function Room() {
    const [name, setName] = useState("Ann");
    const [where, setWhere] = useState<{ n: number } | typeof skip>(input);
    [rename, go] = [setName, setWhere];
    const { status, members, send } = useChannel(lobby, where, {
      state: { name },
      on: { said: ({ text }) => heard.push(`${name} hears ${text}`) },
    });
    const shown = members.map(({ state }) => state?.name).sort();
    return h("button", { type: "button", onClick: () => void send("said", { text: "clicked" }) }, `${status} ${shown}`);
  }
  show(client, Room);
  await screen.findByText("joined Ann,Bob");
  const said: string[] = [];
  other.on("said", ({ text }) => said.push(text));
  screen.getByRole("button").click();
  await expect.poll(() => said).toEqual(["clicked"]);
  act(() => rename("Anna"));
  await screen.findByText("joined Anna,Bob");
  await other.send("said", { text: "hi" });
  await expect.poll(() => heard).toEqual(["Anna hears hi"]);
  act(() => go(skip));
  await screen.findByText("joining");
  await expect.poll(() => names(other)).toEqual(["Bob"]);
});
