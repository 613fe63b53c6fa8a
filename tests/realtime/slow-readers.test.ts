// If this file fails, one client that does not read can fill the memory of the service, or delay other clients.
import { once } from "node:events";
import { connect as connectTcp, type Socket as TcpSocket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { connectionLimits } from "../../src/realtime/connection.ts";
import { collectGarbage } from "../support/collect-garbage.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";

/** `npm run chaos` does it with a hundred. */
const sleepers = process.env.CHAOS_ROUNDS ? 100 : 10;
const db = database();
const board = createSvcProcedureBuilders()
  .query.name("test.board")
  .allowAnonymous()
  .handler(() => 1);
const running = service(db, apiWith({ procedures: { board } }));
beforeAll(() => db.sql("set synchronous_commit to on"));

const slow: TcpSocket[] = [];
afterAll(() => {
  for (const socket of slow) socket.destroy();
});

/** A frame from a client is masked; this mask does not change it. */
function clientFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** Opens a socket, subscribes, and stops reading. */
async function subscribeAndSleep(): Promise<TcpSocket> {
  const socket = connectTcp(Number(new URL(running.url).port), "127.0.0.1");
  slow.push(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  const head =
    "GET /ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n";
  socket.write(`${head}sec-websocket-key: ${"x".repeat(22)}==\r\n\r\n`);
  let heard = "";
  for (let asked = false; !heard.includes('"subscribed"'); ) {
    heard += String((await once(socket, "data"))[0]);
    if (!asked && heard.includes('"status"')) {
      asked = true;
      socket.write(clientFrame('{"type":"subscribe","query":"test.board"}'));
    }
  }
  socket.pause();
  return socket;
}

/** In bytes: buffers of waiting frames. */
function held(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

const metric = async (name: string) =>
  Number(new RegExp(`^${name} (\\d+)`, "m").exec((await running.fetch("/metrics")).body)?.[1]);

test("sockets that never read are dropped with 1013, and the others hear everything", async () => {
  const fast = await Socket.open(running, null);
  await fast.subscribe("test.board");
  for (let n = 0; n < sleepers; n++) await subscribeAndSleep();
  expect(await metric("svc_realtime_connections")).toBe(sleepers + 1);

  const before = held();
  const filler = "x".repeat(60_000);
  let sent = 0;
  // Until the kernel's buffers and ours are full; the kernel decides how much that takes.
  while ((await metric("svc_realtime_dropped_total")) < sleepers && sent < 2_000) {
    for (let n = 0; n < 20; n++) {
      const message = JSON.stringify({ emit: "test.board", data: { number: sent++, filler } });
      await db.sql("select svc.emit_message($1)", [message]);
      const { data } = await fast.wait({ type: "query:updated", query: "test.board" });
      expect(data.number).toBe(sent - 1);
    }
  }
  expect(await metric("svc_realtime_dropped_total")).toBe(sleepers);
  // A client that continues in time learns the reason after the waiting frames.
  const [sleeper] = slow as [TcpSocket];
  let tail = Buffer.alloc(0);
  sleeper.on("data", (data) => {
    tail = Buffer.concat([tail, data]).subarray(-12);
  });
  const closeFrame = Buffer.concat([Buffer.from([0x88, 10, 1013 >> 8, 1013 & 255]), Buffer.from("too slow")]);
  sleeper.resume();
  await expect.poll(() => tail.toString("hex")).toBe(closeFrame.toString("hex"));

  await expect.poll(() => metric("svc_realtime_connections")).toBe(1);
  const perSocket = connectionLimits.waiting + 2 * filler.length;
  await expect.poll(() => held() - before).toBeLessThan((sleepers + 2) * perSocket);
  fast.close();
}, 300_000);
