// If this file fails, a request whose client has left is waited for, and the service does not end while it stops.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readBody } from "../../src/http/body.ts";

const requests = () => Promise.withResolvers<IncomingMessage>();
let arrived = requests();
const server = createServer((request) => {
  request.on("error", () => {});
  arrived.resolve(request);
});
beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => server.close());

/** A request of which the head has arrived, and whose client closes the connection. */
async function sent(length: number) {
  arrived = requests();
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(`POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\nabc`);
  return { request: await arrived.promise, leave: () => socket.destroy() };
}

test.for([1_000, 100_000])("a body of %i bytes whose client leaves is refused: before it is read", async (length) => {
  const { request, leave } = await sent(length);
  const gone = new Promise((resolve) => request.on("close", resolve));
  leave();
  await gone;
  await expect(readBody(request, 1_000_000)).rejects.toMatchObject({ code: "BAD_REQUEST" });
});

test.for([1_000, 100_000])("a body of %i bytes whose client leaves is refused: while it is read", async (length) => {
  const { request, leave } = await sent(length);
  const read = readBody(request, 1_000_000);
  leave();
  await expect(read).rejects.toMatchObject({ code: "BAD_REQUEST" });
});
