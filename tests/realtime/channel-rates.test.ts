// If this file fails, one user keeps a process busy for all others, or a user has no limit.
import { expect, onTestFinished, test, vi } from "vitest";
import type { ChannelFrames } from "../../src/realtime/channel-frames.ts";
import { ChannelRates } from "../../src/realtime/channel-limits.ts";
import { lobby, local, yes } from "./local-channels.ts";

test("visitors whose network is not known do not wait for each other", async () => {
  const rates = new ChannelRates();
  for (let visitor = 0; visitor < 20; visitor++) {
    const connection = {};
    for (let n = 0; n < 50; n++) rates.take(connection, null, 0);
  }
});

test("one user, with all connections, does not keep a process busy with messages to many members", async () => {
  const { all, enter } = local(async () => yes);
  const members = await Promise.all(Array.from({ length: 400 }, () => enter(lobby(9))));
  const attacker = members.slice(0, 4);
  for (const { socket } of attacker) socket.address = "network of one";
  const send = (frames: ChannelFrames, event: "send" | "track") => {
    const said = event === "send" ? { event: "said", data: { text: "!" } } : { state: { typing: true } };
    frames.handle({ type: event, query: lobby(9), ref: 1, ...said });
  };
  for (let round = 0; round < 99; round++) for (const { frames } of attacker) send(frames, "send");
  const told = attacker.flatMap((one) => one.told) as { data?: { code?: string; retryAfter?: number } }[];
  const refused = () => told.filter(({ data }) => data?.code === "RATE_LIMITED");
  // 396 messages to 400 members each are 158,400; at once 40,000 are given.
  expect(refused().length).toBeGreaterThan(200);
  expect(refused().length).toBeLessThan(390);
  const [, , , , other] = members;
  other?.told.splice(0);
  send(other?.frames as ChannelFrames, "send");
  await expect.poll(() => other?.told).toMatchObject([{ data: { sent: 1 } }]);
  await all.close();
});

test("nor by coming and going: each of the members hears of it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { all, enter } = local(async () => yes);
  const members = await Promise.all(Array.from({ length: 400 }, () => enter(lobby(9))));
  const attacker = members.slice(0, 4);
  for (const { socket } of attacker) socket.address = "network of one";
  for (let round = 0; round < 60; round++) {
    for (const { frames } of attacker) frames.handle({ type: "unsubscribe", query: lobby(9) });
    for (const { frames } of attacker) frames.handle({ type: "subscribe", query: lobby(9) });
    const answered = (round + 2) * attacker.length; // the first ones are from before
    while (attacker.flatMap(({ told }) => told).length < answered)
      await new Promise((resolve) => setImmediate(resolve));
  }
  const refused = () => attacker.flatMap(({ told }) => told).filter(({ code }) => code === "RATE_LIMITED");
  // 240 comings and goings, told to 400 members each, are 192,000; at once 40,000 are given.
  expect(refused().length).toBeGreaterThan(180);
  expect(refused().length).toBeLessThan(200);
  const [, , , , other] = members;
  other?.frames.handle({ type: "unsubscribe", query: lobby(9) });
  other?.told.splice(0);
  other?.frames.handle({ type: "subscribe", query: lobby(9) });
  await expect.poll(() => other?.told).toMatchObject([{ type: "subscribed" }]);
  await all.close();
});

test("who may not be in a channel does not learn from its limits that it has members", async () => {
  const { all, enter } = local(async (_definition, _input, _session, holder) => ({
    ...yes,
    isAllowed: holder !== "eve",
  }));
  for (let n = 0; n < 400; n++) await enter(lobby(9));
  const attackers = await Promise.all(Array.from({ length: 4 }, () => enter(lobby(9), "eve")));
  for (let round = 0; round < 40; round++) {
    for (const { frames } of attackers) {
      frames.handle({ type: "subscribe", query: lobby(9) });
      frames.handle({ type: "send", query: lobby(9), ref: 1, event: "said", data: { text: "!" } });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  const codes = attackers.flatMap(({ told }) =>
    (told as { code?: string; data?: { code: string } }[]).map(({ code, data }) => code ?? data?.code),
  );
  expect(codes.length).toBeGreaterThan(200);
  expect([...new Set(codes)]).toEqual(["FORBIDDEN"]);
  await all.close();
});

test("a user is limited however many others there are", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const rates = new ChannelRates();
  const refused = (connection: object, holder: string, bytes: number, hearers: number) => {
    try {
      rates.take(connection, holder, bytes, hearers);
      return false;
    } catch {
      return true;
    }
  };
  for (let user = 0; user < 10_000; user++) {
    const connection = {};
    for (let n = 0; n < 9; n++) refused(connection, `user ${user}`, 8_192, 500);
  }
  vi.advanceTimersByTime(1_000); // the process takes something again, and none of these may send as much as one who is new
  const connections = Array.from({ length: 10 }, () => ({}));
  const last = Array.from({ length: 600 }, (_, n) => refused(connections[n % 10] as object, "the last", 0, 0));
  expect(last.indexOf(true)).toBe(400);
  expect(last.slice(400).every(Boolean)).toBe(true);
});

test("a user who paused for a while may send at once again, and one who did not, may not", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const rates = new ChannelRates();
  /** How much is given at once. */
  const given = () => {
    let count = 0;
    try {
      for (;;) {
        rates.take({}, "ann", 0, 100);
        count++;
      }
    } catch {}
    return count;
  };
  expect(given()).toBe(400);
  for (let round = 0; round < 20; round++) {
    vi.advanceTimersByTime(500);
    expect(given()).toBe(100);
  }
  vi.advanceTimersByTime(60_000);
  expect(given()).toBe(400);
});

test("who finds a channel full does not pay for those who would have heard of it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { all, enter } = local(async () => yes);
  for (let n = 0; n < 500; n++) await enter(lobby(9));
  const { frames, told } = await enter(lobby(9), "school");
  while (told.length < 60) {
    const before = told.length;
    frames.handle({ type: "subscribe", query: lobby(9) });
    while (told.length === before) await new Promise((resolve) => setImmediate(resolve));
  }
  expect([...new Set(told.map((each) => (each as { error?: string }).error))]).toEqual([
    "This channel has 500 connections, and takes no more.",
  ]);
  await all.close();
});
