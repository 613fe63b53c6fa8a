// If this file fails, somebody without an account can fill the memory of a process with subscriptions, or keep it busy.
import { describe, expect, test } from "vitest";
import { createSvcProcedureBuilders } from "../../src/define/procedure.ts";
import { connectionLimits } from "../../src/realtime/connection.ts";
import { Hub } from "../../src/realtime/hub.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";

const board = createSvcProcedureBuilders()
  .query.name("test.board")
  .allowAnonymous()
  .handler(() => 1);
const running = service(database(), apiWith({ procedures: { board } }));
const connect = sockets(running);

test("the keys of a connection have a length together, and make room for others when they go", async () => {
  const socket = await connect(null);
  const key = (n: number) => `test.board::{"n":${n},"x":"${"x".repeat(4000)}"}`;
  const most = Math.ceil(connectionLimits.keys / key(10).length);
  for (let n = 10; n < 10 + most; n++) await socket.subscribe(key(n));
  const refused = { type: "error", code: "RATE_LIMITED", query: "test.board" };
  socket.send({ type: "subscribe", query: "test.board" });
  await socket.wait(refused);
  socket.send({ type: "unsubscribe", query: key(10) });
  await socket.subscribe("test.board");
});

test("a process takes subscriptions as long as there is room", () => {
  const hub = new Hub(async () => null, 10_000);
  const [one, other] = [{ send() {} }, { send() {} }];
  hub.join(one);
  hub.join(other);
  const watch = (subscriber: typeof one, key: string) => hub.subscribe(subscriber, { key, topics: [`key:${key}`] });
  watch(one, "short");
  expect(hub.hasRoom).toBe(true);
  for (let n = 0; n < 3; n++) watch(other, `${n}${"x".repeat(1000)}`);
  expect(hub.hasRoom).toBe(false);
  hub.unsubscribe(other, `0${"x".repeat(1000)}`);
  expect(hub.hasRoom).toBe(true);
  for (let n = 0; n < 100; n++) watch(one, "short"); // the same one again
  expect(hub.hasRoom).toBe(true);
  watch(other, "x".repeat(2000));
  expect(hub.hasRoom).toBe(false);
  hub.leave(other);
  expect(hub.hasRoom).toBe(true);
});

describe("a client that misbehaves", () => {
  test.each(["not json", "[]", "null", '{"type":"shout"}', '{"type":"subscribe"}'])(
    "with %s gets an error frame and stays connected",
    async (frame) => {
      const visitor = await connect(null);
      visitor.send(frame);
      await visitor.wait({ type: "error", code: "BAD_REQUEST" });
      await visitor.subscribe("test.board");
    },
  );

  test("with a frame that is too large is closed with 1009", async () => {
    const visitor = await connect(null);
    visitor.send("x".repeat(connectionLimits.frame + 1));
    await expect.poll(() => visitor.closed?.code).toBe(1009);
  });

  test("that watches too much is told, and keeps what it has", async () => {
    const visitor = await connect(null);
    for (let n = 0; n <= connectionLimits.subscriptions; n++) {
      visitor.send({ type: "subscribe", query: `posts.get::{"id":"${n}"}` });
    }
    await visitor.wait({ type: "error", code: "RATE_LIMITED" });
  });

  test("that floods is closed with 1008", async () => {
    const visitor = await connect(null);
    for (let n = 0; n <= connectionLimits.frames; n++) visitor.send({ type: "unsubscribe", query: "x" });
    await expect.poll(() => visitor.closed?.code).toBe(1008);
  });
});
