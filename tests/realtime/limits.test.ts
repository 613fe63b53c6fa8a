// If this file fails, an anonymous client can fill the memory of a process with subscriptions, or keep it busy.
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type WebSocket from "ws";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { connectionLimits } from "../../src/realtime/connection.ts";
import { SubscriptionRegistry } from "../../src/realtime/subscription-registry.ts";
import { collectGarbage } from "../support/collect-garbage.ts";
import { database } from "../support/database.ts";
import { apiWith, service, TestService } from "../support/service.ts";
import { Socket, sockets } from "../support/sockets.ts";

const board = createSvcProcedureBuilders()
  .query.name("test.board")
  .allowAnonymous()
  .handler(() => 1);
const db = database();
const running = service(db, apiWith({ procedures: { board } }));
const connect = sockets(running);

test("the keys of a connection have a length together, and make room for others when they go", async () => {
  const socket = await connect(null);
  const key = (n: number) => `test.board::{"n":${n},"x":"${"x".repeat(4000)}"}`;
  const most = Math.floor(connectionLimits.keys / key(10).length);
  for (let n = 10; n < 10 + most; n++) await socket.subscribe(key(n));
  const refused = { type: "error", code: "RATE_LIMITED", query: key(90) };
  socket.send({ type: "subscribe", query: key(90) });
  await socket.wait(refused);
  await socket.subscribe(key(11)); // with the token of a newer answer
  socket.send({ type: "unsubscribe", query: key(10) });
  await socket.subscribe(key(90));
});

test("a process takes subscriptions as long as there is room", () => {
  const registry = new SubscriptionRegistry(async () => null, 10_000);
  const [one, other] = [
    { session: null, send() {} },
    { session: null, send() {} },
  ];
  registry.join(one);
  registry.join(other);
  const watch = (subscriber: typeof one, key: string) =>
    registry.subscribe(subscriber, { key, topics: [`key:${key}`] });
  watch(one, "short");
  expect(registry.hasRoom).toBe(true);
  for (let n = 0; n < 3; n++) watch(other, `${n}${"x".repeat(1000)}`);
  expect(registry.hasRoom).toBe(false);
  registry.unsubscribe(other, `0${"x".repeat(1000)}`);
  expect(registry.hasRoom).toBe(true);
  for (let n = 0; n < 100; n++) watch(one, "short"); // the same one again
  expect(registry.hasRoom).toBe(true);
  watch(other, "x".repeat(2000));
  expect(registry.hasRoom).toBe(false);
  registry.leave(other);
  expect(registry.hasRoom).toBe(true);
});

test("an address takes an eighth of it, and leaves the rest to others", () => {
  const registry = new SubscriptionRegistry(async () => null, 100_000);
  const [one, same, other, nobodys] = [
    { session: null, send() {} },
    { session: null, send() {} },
    { session: null, send() {} },
    { session: null, send() {} },
  ];
  registry.join(one, "192.0.2.1");
  registry.join(same, "192.0.2.1");
  registry.join(other, "192.0.2.2");
  registry.join(nobodys);
  const watch = (subscriber: typeof one, key: string) =>
    registry.subscribe(subscriber, { key, topics: [`key:${key}`] });
  for (let n = 0; n < 3; n++) watch(one, `${n}${"x".repeat(2000)}`);
  expect([one, same, other, nobodys].map((subscriber) => registry.hasRoomFor(subscriber))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  registry.unsubscribe(one, `0${"x".repeat(2000)}`);
  expect(registry.hasRoomFor(same)).toBe(true);
  registry.leave(one);
  for (let n = 0; n < 3; n++) watch(nobodys, `${n}${"x".repeat(20_000)}`);
  expect([same, other, nobodys].map((subscriber) => registry.hasRoomFor(subscriber))).toEqual([false, false, false]);
});

test("a subscriber that has left takes no memory", async () => {
  const registry = new SubscriptionRegistry(async () => null);
  const comeAndGo = () => {
    const subscriber = { session: null, send() {} };
    registry.join(subscriber, "192.0.2.1");
    for (const key of ["one", "other"]) registry.subscribe(subscriber, { key, topics: ["all", `key:${key}`] });
    registry.unsubscribe(subscriber, "one");
    registry.leave(subscriber);
    return new WeakRef(subscriber);
  };
  const left = comeAndGo();
  await new Promise((resolve) => setImmediate(resolve)); // until then the reference itself holds it
  collectGarbage();
  expect(left.deref()).toBeUndefined();
  expect(["all", "key:one", "key:other"].map((topic) => registry.hears(topic))).toEqual([false, false, false]);
});

describe("sockets of one address", () => {
  const few = new TestService(db, apiWith({ procedures: { board } }), {
    limits: { socketsPerAddress: 2 },
    trustProxy: 1,
  } as object);
  beforeAll(() => few.start());
  afterAll(() => few.stop());

  /** @returns the status of the upgrade's answer */
  const upgraded = (from: string) =>
    new Promise<{ status?: number | undefined; after?: string | undefined; websocket: WebSocket }>((resolve) => {
      const { websocket } = new Socket(`${few.url.replace("http", "ws")}/ws`, { headers: { "x-forwarded-for": from } });
      websocket.on("open", () => resolve({ status: 101, websocket }));
      websocket.on("unexpected-response", (_request, { statusCode: status, headers }) => {
        resolve({ status, after: headers["retry-after"], websocket });
      });
    });

  test("are so many at once, and make room for others when they are closed", async () => {
    const [one, two] = [await upgraded("192.0.2.1"), await upgraded("192.0.2.1")];
    expect([one.status, two.status]).toEqual([101, 101]);
    expect(await upgraded("192.0.2.1")).toMatchObject({ status: 429, after: "30" });
    const other = await upgraded("192.0.2.2");
    expect(other.status).toBe(101);
    one.websocket.terminate();
    await expect.poll(async () => (await upgraded("192.0.2.1")).status).toBe(101);
    for (const { websocket } of [two, other]) websocket.terminate();
  });

  test("are none where another protocol is offered: the request is answered", async () => {
    const client = connectTcp(Number(new URL(few.url).port), "127.0.0.1");
    client.write(
      "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\n\r\n",
    );
    const [answer] = await once(client, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 OK/);
    client.destroy();
  });

  test("that never became any are not counted, and a refused client cannot hold its connection open", async () => {
    for (let n = 0; n < 3; n++) {
      const path = ["//", "/elsewhere"][n] ?? "/ws"; // there without the key of a handshake
      const client = connectTcp({ port: Number(new URL(few.url).port), host: "127.0.0.1", allowHalfOpen: true });
      client.on("error", () => {});
      client.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 192.0.2.3\r\n`);
      client.write("connection: upgrade\r\nupgrade: websocket\r\n\r\n");
      client.resume();
      await once(client, "end");
      const closed = new Promise((resolve) => client.once("close", resolve));
      while (!client.destroyed) {
        client.write("still here");
        await new Promise((resolve) => setImmediate(resolve));
      }
      await closed;
    }
    const { status, websocket } = await upgraded("192.0.2.3");
    expect(status).toBe(101);
    websocket.terminate();
  });
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
    // What it watches it subscribes to again when an answer followed other tables.
    await visitor.subscribe('posts.get::{"id":"0"}');
  });

  test("that floods is closed with 1008", async () => {
    const visitor = await connect(null);
    for (let n = 0; n <= connectionLimits.frames; n++) visitor.send({ type: "unsubscribe", query: "x" });
    await expect.poll(() => visitor.closed?.code).toBe(1008);
  });
});
