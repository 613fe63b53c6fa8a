// If this file fails, a client that asks for large lists and reads none of them takes all memory of a process.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createSvcHttpRouteBuilders, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import type * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { until } from "../support/worker.ts";

const mebibyte = 1024 * 1024;
/** More than the kernel takes from a process for a client that does not read. */
const answer = 12 * mebibyte;
let answered = 0;
const text = () => {
  answered++;
  return "x".repeat(answer);
};
const procedures = { large: procedure.mutation.name("unread.large").allowAnonymous().input(v.any()).handler(text) };
const { post } = createSvcHttpRouteBuilders<typeof schema>();
let waiting = 0;
const httpRoutes = {
  left: post
    .path("/api/left")
    .allowAnonymous()
    .handler(async ({ request }) => {
      waiting++;
      await once(request.signal, "abort");
      return { body: text() };
    }),
  large: post
    .path("/api/unread")
    .allowAnonymous()
    .handler(() => ({ body: text() })),
};
const db = database();
/** One address may leave one answer unread, all together four. */
const limits = { bodyMemoryBytes: 4 * answer + mebibyte };
const svc = service(db, apiWith({ procedures, httpRoutes }), { trustProxy: 1, limits } as never);

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

function send(address: string, path: string): Socket {
  const { hostname, port } = new URL(svc.url);
  const socket = connect(Number(port), hostname);
  open.push(socket);
  socket.pause();
  socket.on("error", () => {}); // it may be reset
  const body = JSON.stringify({ name: "unread.large", args: {} });
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-forwarded-for: ${address}`;
  socket.write(`${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  return socket;
}

/** A request whose answer is not read yet. */
async function ask(address: string, path = "/api/unread"): Promise<Socket> {
  const before = answered;
  const socket = send(address, path);
  await until(async () => answered > before);
  return socket;
}

/** Whether the answer can still be read as a whole. */
async function isWhole(socket: Socket): Promise<boolean> {
  let bytes = 0;
  socket.on("data", (chunk) => {
    bytes += chunk.length;
  });
  socket.resume();
  if (!socket.closed) await once(socket, "close");
  return bytes > answer;
}
const areWhole = (sockets: readonly Socket[]) => Promise.all(sockets.map(isWhole));

test.each(["/api/mutation", "/api/unread"])(
  "of an address, the answers of %s that wait longest are cut off",
  async (path) => {
    const other = await ask("10.0.0.2", path);
    const asked = [await ask("10.0.0.1", path), await ask("10.0.0.1", path)];
    expect(await areWhole([other, ...asked])).toEqual([true, false, true]);
  },
);

test("of all addresses together, too", async () => {
  const asked: Socket[] = [];
  for (let n = 0; n < 5; n++) asked.push(await ask(`10.0.1.${n}`));
  expect(await areWhole(asked)).toEqual([false, true, true, true, true]);
});

test("answers that are read do not count", async () => {
  const asked: Socket[] = [];
  for (let n = 0; n < 4; n++) asked.push(await ask(`10.0.2.${n}`));
  expect(await areWhole(asked)).toEqual([true, true, true, true]);
  for (let n = 0; n < 2; n++) expect(await isWhole(await ask("10.0.2.0"))).toBe(true);
});

test("an answer whose client has left before does not count", async () => {
  const unread = await ask("10.0.3.1");
  const leaving = send("10.0.3.1", "/api/left");
  await until(async () => waiting === 1);
  const before = answered;
  leaving.destroy();
  await until(async () => answered > before);
  expect(await isWhole(unread)).toBe(true);
});
