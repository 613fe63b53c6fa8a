// If this file fails, one member can fill the memory of a process, or keep it busy, for all others.
import { describe, expect, test } from "vitest";
import { channelLimits } from "../../src/realtime/channel-limits.ts";
import type { Asked } from "../../src/realtime/channel-member.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { channels } from "./channel-application.ts";
import { lobby, local, yes } from "./local-channels.ts";

const db = database();
const api = apiWith({ channels });
const running = service(db, api);
const connect = sockets(running);

describe("a connection", () => {
  test("is in so many channels, and makes room for others when it leaves them", async () => {
    const socket = await connect(null);
    for (let n = 0; n < channelLimits.channels; n++) socket.send({ type: "subscribe", query: lobby(-n) });
    await socket.wait({ type: "subscribed", query: lobby(1 - channelLimits.channels) });
    socket.send({ type: "subscribe", query: lobby(1) });
    await socket.wait({ type: "error", code: "RATE_LIMITED", query: lobby(1) });
    socket.send({ type: "unsubscribe", query: lobby(-3) });
    socket.send({ type: "subscribe", query: lobby(1) });
    await socket.wait({ type: "subscribed", query: lobby(1) });
  });

  test("that floods a channel is told to wait; others are served, and their watched queries too", async () => {
    const [flooding, other, watching] = [
      await connect(null),
      await connect(null),
      await connect(await running.signUp("ann")),
    ];
    for (const socket of [flooding, other]) {
      socket.send({ type: "subscribe", query: lobby(2) });
      await socket.wait({ type: "subscribed", query: lobby(2) });
    }
    await watching.subscribe("guestbook.list");
    for (let ref = 1; ref <= 400; ref++) {
      flooding.send({ type: "send", query: lobby(2), event: "said", data: { text: "!" }, ref });
    }
    await db.sql("insert into guestbook (message) values ('hello')");
    await watching.wait({ type: "invalidate", queries: ["guestbook.list"] });
    const refused = () => flooding.frames.filter(({ data }) => data?.code === "RATE_LIMITED");
    await expect.poll(() => refused().some(({ data }) => data.failed === 400)).toBe(true);
    expect(refused()[0].data).toMatchObject({ retryAfter: 1, hint: expect.stringContaining("20 times a second") });
    const sent = () => flooding.frames.filter(({ data }) => data?.sent).length;
    await expect.poll(() => sent() + refused().length).toBe(400);
    expect(sent()).toBeLessThan(300);
    const heard = () => other.frames.filter(({ data }) => data?.message === "said").length;
    await expect.poll(heard).toBe(sent());
    other.send({ type: "send", query: lobby(2), event: "said", data: { text: "?" }, ref: "other" });
    await other.wait({ data: { sent: "other" } });
  });
});

const texts = (heard: { text?: string }[]) => heard.flatMap(({ text }) => text ?? []);
const change = { xid: "9", topics: new Set(["rows:rooms"]), data: new Map(), refresh: new Set<string>(), told: [] };

test.each(["constructor", "toString", "__proto__", "track "])(
  "a frame of the type %s is answered as unknown",
  async (type) => {
    const socket = await connect(null);
    socket.send(`{"type":${JSON.stringify(type)},"query":${JSON.stringify(lobby(8))}}`);
    expect(await socket.wait({ type: "error" })).toMatchObject({ code: "BAD_REQUEST" });
  },
);

describe("a process", () => {
  test("lets a slow client miss messages, says so when it reads again, and gives it the list of members", async () => {
    const { all, enter, say } = local(async () => yes);
    const { socket, heard } = await enter(lobby(3));
    await expect.poll(() => heard).toMatchObject([{ members: [{ connections: 1 }] }]);
    socket.waiting = channelLimits.waiting + 1;
    const other = await enter(lobby(3));
    say(lobby(3), "lost");
    await expect.poll(() => texts(other.heard)).toEqual(["lost"]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(heard.length).toBe(1);
    socket.waiting = 0;
    await expect.poll(() => heard.slice(1)).toMatchObject([{ missed: true }, { members: [{}, {}] }]);
    say(lobby(3), "heard");
    expect(texts(heard)).toEqual(["heard"]);
    await all.close();
  });

  test("holds back messages while join is asked again, so many of them, and drops them if the answer is no", async () => {
    const answers: ((asked: Asked) => void)[] = [];
    const { all, enter, say } = local(() => new Promise((resolve) => answers.push(resolve)));
    const entering = enter(lobby(4));
    await expect.poll(() => answers.length).toBe(1);
    answers.shift()?.(yes);
    const { heard, told, frames } = await entering;
    const doubt = async () => {
      all.changed(change);
      await expect.poll(() => answers.length).toBe(1);
    };
    await doubt();
    for (let n = 0; n < channelLimits.held + 5; n++) say(lobby(4), String(n));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(texts(heard)).toEqual([]);
    answers.shift()?.(yes);
    await expect.poll(() => texts(heard).length).toBe(channelLimits.held);
    await expect.poll(() => heard.some(({ missed }) => missed)).toBe(true);
    await doubt();
    say(lobby(4), "secret");
    frames.handle({ type: "send", query: lobby(4), event: "said", data: { text: "unheard" }, ref: 1 });
    answers.shift()?.({ ...yes, isAllowed: false });
    const refusals = [{ data: { failed: 1, code: "FORBIDDEN" } }, { type: "error", code: "FORBIDDEN" }];
    await expect.poll(() => told.slice(1)).toMatchObject(refusals);
    expect(texts(heard)).not.toContain("secret");
    expect(all.members).toBe(0);
    await all.close();
  });

  test("holds back who comes while join is asked again, and never shows it to one who was removed", async () => {
    let answers: ((asked: Asked) => void)[] | undefined;
    const { all, enter } = local(async () => (answers ? new Promise((resolve) => answers?.push(resolve)) : yes));
    const [stays, removed] = [await enter(lobby(7)), await enter(lobby(7))];
    await expect.poll(() => removed.heard.length).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    stays.heard.length = removed.heard.length = 0;
    answers = [];
    all.changed(change);
    await expect.poll(() => answers?.length).toBe(2);
    const [answerStays, answerRemoved] = answers;
    answers = undefined;
    const late = await enter(lobby(7));
    await expect.poll(() => late.heard.length, { timeout: 5_000 }).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([stays.heard, removed.heard]).toEqual([[], []]);
    answerStays?.(yes);
    answerRemoved?.({ ...yes, isAllowed: false });
    await expect
      .poll(() => stays.heard.slice(0, 2), { timeout: 5_000 })
      .toMatchObject([
        { set: [{}], gone: [] },
        { set: [], gone: [expect.any(String)] },
      ]);
    expect(removed.heard).toEqual([]);
    await all.close();
  });

  test("lets nobody in while changes do not arrive, also if they stopped during the answer", async () => {
    let before: string | null = "1";
    let asked = 0;
    const { all, enter } = local(
      async () => {
        if (asked++ === 0) before = null;
        return { ...yes, topics: [] };
      },
      () => before,
    );
    const entering = enter(lobby(8));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(all.members).toBe(0);
    before = "2";
    all.resumed();
    expect((await entering).told).toMatchObject([{ type: "subscribed" }]);
    // Before the changes arrived again, and since.
    expect(asked).toBe(3);
    await all.close();
  });

  test("lets nobody in by the answer of a server that another has replaced", async () => {
    let asked = 0;
    const { all, enter } = local(async () => {
      if (asked++ > 0) return { ...yes, isAllowed: false };
      all.doubt();
      all.resumed();
      return yes;
    });
    expect((await enter(lobby(10))).told).toMatchObject([{ type: "error", code: "FORBIDDEN" }]);
    expect(all.members).toBe(0);
    await all.close();
  });

  test("asks again after a migration that committed before a member's first answer, also if that answer read nothing", async () => {
    let asked = 0;
    const { all, enter } = local(async () => {
      if (asked++ > 0) return { ...yes, topics: [], isAllowed: false };
      all.doubt("9");
      return { ...yes, topics: [] };
    });
    const { told } = await enter(lobby(11));
    await expect.poll(() => told.at(-1)).toMatchObject({ type: "error", code: "FORBIDDEN" });
    expect(all.members).toBe(0);
    await all.close();
  });

  test("waits for an answer that has seen the change", async () => {
    const snapshots = ["9:9:", "9:10:9", "10:10:"];
    let asked = 0;
    const { all, enter, say } = local(async () => {
      const snapshot = snapshots[asked++] ?? "20:20:";
      return { ...yes, snapshot, isAllowed: asked < 4 };
    });
    const { heard } = await enter(lobby(5));
    asked = 1;
    all.changed(change);
    say(lobby(5), "held");
    await expect.poll(() => texts(heard)).toEqual(["held"]);
    expect(asked).toBe(3);
    await all.close();
  });

  test("does not wait for a transaction that was lost with the server before", async () => {
    const { all, enter, say } = local(async () => ({ ...yes, snapshot: "5:5:" }));
    const { heard } = await enter(lobby(9));
    all.changed(change);
    say(lobby(9), "held");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(texts(heard)).toEqual([]);
    all.resumed();
    await expect.poll(() => texts(heard)).toEqual(["held"]);
    await all.close();
  });

  test("has so many connections in a channel", async () => {
    const { all, enter } = local(async () => yes);
    for (let n = 0; n < channelLimits.members; n++) await enter(lobby(6));
    expect((await enter(lobby(6))).told).toMatchObject([{ type: "error", code: "RATE_LIMITED" }]);
    await all.close();
  });
});
