// If this file fails, a slow member of a durable channel loses messages for ever, or the process holds too many for it.
import { expect, test } from "vitest";
import { ChannelFrames } from "../../src/realtime/channel-frames.ts";
import { ChannelRates, channelLimits } from "../../src/realtime/channel-limits.ts";
import type { Asked } from "../../src/realtime/channel-member.ts";
import type { Recall } from "../../src/realtime/channel-store.ts";
import { Channels } from "../../src/realtime/channels.ts";
import { apiWith } from "../support/service.ts";
import { channels } from "./durable-application.ts";

const topic = 'wall::{"id":"1"}';
const yes: Asked = { isAllowed: true, snapshot: null, topics: [], isComplete: true };

/** A channel without a database: its messages are numbers, which a client with this much unread gets. */
function local() {
  const definitions = apiWith({ channels })["~svc"].channels;
  const asked: (Recall | undefined)[] = [];
  let last = 0;
  let meanwhile = () => {};
  const all = new Channels({
    definitions,
    broadcast: async () => {},
    store: async () => {},
    answer: async () => {},
    production: true,
    before: () => "1",
    ask: async (_definition, _input, _session, _holder, recall) => {
      asked.push(recall);
      if (!recall) return yes;
      const messages = Array.from({ length: last }, (_, n) => n + 1).filter((id) => id > (recall.after ?? last));
      const page = JSON.stringify({ messages: messages.map((id) => ({ id })), until: last });
      meanwhile();
      return { ...yes, stored: { page, snapshot: "9:9:" } };
    },
  });
  const heard: { id?: number; missed?: true; stored?: { messages: { id: number }[] } }[] = [];
  const socket = {
    session: null,
    address: null,
    network: "unknown",
    waiting: 0,
    tell() {},
    send: (frame: Buffer) => void heard.push(JSON.parse(frame.subarray(frame.indexOf("{")).toString()).data),
  };
  const services = { definitions, channels: all, rates: new ChannelRates(), weigh() {}, hasRoomFor: () => true };
  const frames = new ChannelFrames(services, socket);
  const ask = (more: object) =>
    frames.handle({ type: "subscribe", query: topic, follows: "a secret of the test", ...more });
  const say = (count: number) => {
    for (let n = 0; n < count; n++) {
      const told = [{ topic, message: "said", body: { json: {} }, id: ++last, at: 0 }];
      all.changed({ xid: "1", topics: new Set(), data: new Map(), refresh: new Set(), told });
    }
  };
  const ids = () => heard.flatMap(({ id, stored }) => id ?? stored?.messages.map((one) => one.id) ?? []);
  /** Has it done once, behind the next page's snapshot and before that is given. */
  const inAnswer = (does: () => void) => {
    meanwhile = () => {
      meanwhile = () => {};
      does();
    };
  };
  /** One is stored while the log is not read. */
  const miss = () => {
    all.doubt();
    last++;
    all.resumed();
  };
  return { all, heard, socket, ask, say, ids, asked, inAnswer, miss };
}
const numbers = (to: number) => Array.from({ length: to }, (_, n) => n + 1);
const turn = () => new Promise((resolve) => setTimeout(resolve, 150));

test("a slow member of a durable channel gets no later message before it has asked for what it missed", async () => {
  const { all, heard, socket, ask, say, ids } = local();
  ask({});
  await expect.poll(() => heard.some(({ stored }) => stored)).toBe(true);
  say(2);
  await expect.poll(ids).toEqual([1, 2]);
  socket.waiting = channelLimits.waiting + 1;
  say(1);
  await turn();
  socket.waiting = channelLimits.waiting - 1; // it takes frames again, and has not been told yet
  say(2);
  await turn();
  expect(ids()).toEqual([1, 2]);
  socket.waiting = 0;
  await expect.poll(() => heard.at(-1)).toEqual({ missed: true });
  ask({ after: 2 });
  await expect.poll(ids).toEqual([1, 2, 3, 4, 5]);
  say(1);
  await expect.poll(ids).toEqual(numbers(6));
  await all.close();
});

test("one who joins and does not read gets the page when it reads again, and nothing before", async () => {
  const { all, heard, socket, ask, say, ids } = local();
  say(3);
  socket.waiting = channelLimits.waiting + 1;
  ask({ last: 0 });
  await turn();
  say(1);
  await turn();
  expect(heard).toEqual([]);
  socket.waiting = 0;
  await expect.poll(() => heard.length).toBeGreaterThan(0);
  say(1);
  await expect.poll(() => ids().at(-1)).toBe(5);
  expect([heard[0]?.stored, heard.some(({ missed }) => missed)]).toEqual([{ messages: [], until: 4 }, false]);
  await all.close();
});

test("what comes while a page is read waits for it; a member asks for pages alone when it wants them", async () => {
  const { all, heard, ask, say, ids, asked } = local();
  ask({ last: 5 });
  await expect.poll(() => heard.some(({ stored }) => stored)).toBe(true);
  say(1);
  await expect.poll(ids).toEqual([1]);
  ask({ after: 1 });
  say(3); // told before the answer, which has them too
  await expect.poll(() => ids().length).toBe(7);
  expect(ids()).toEqual([1, 2, 3, 4, 2, 3, 4]);
  ask({});
  await turn();
  expect(asked.length).toBe(2);
  await all.close();
});

test("a message that is told between the page of one who joins and its admission reaches it", async () => {
  const { all, heard, ask, say, ids, inAnswer } = local();
  say(2);
  inAnswer(() => say(1));
  ask({ after: 0 });
  await expect.poll(() => heard.some(({ stored }) => stored)).toBe(true);
  await turn();
  expect(ids()).toEqual([1, 2, 3]);
  say(1);
  await expect.poll(ids).toEqual(numbers(4));
  await all.close();
});

test("one who joins while another server takes over gets no page of the one before", async () => {
  const { all, heard, ask, say, ids, inAnswer, miss } = local();
  say(2);
  inAnswer(miss);
  ask({ after: 0 });
  await expect.poll(() => heard.some(({ stored }) => stored)).toBe(true);
  expect(ids()).toEqual([1, 2, 3]);
  await all.close();
});
