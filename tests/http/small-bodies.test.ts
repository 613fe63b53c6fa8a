// If this file fails, a call whose body arrives in pieces gets other arguments, or one that never ends is waited for.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

// An interval ends slow bodies. A file that ran before in this process may have left a faked one.
vi.useRealTimers();

let calls = 0;
const echo = procedure.mutation
  .name("small.echo")
  .allowAnonymous()
  .handler(({ input }) => {
    calls++;
    return input;
  });
const limits = { bodyBytesPerSecond: 1024, bodyWindowMs: 300 };
const svc = service(database(), apiWith({ procedures: { echo } }), { limits } as object);

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  calls = 0;
});

/** Begins a call. @param length null: its body is chunked @param closes whether the client asks to close the connection */
async function begin(length: number | null, closes = true): Promise<Socket> {
  const socket = connect(Number(new URL(svc.url).port), "127.0.0.1").setNoDelay();
  sockets.push(socket);
  await once(socket, "connect");
  const framed = length === null ? "transfer-encoding: chunked" : `content-length: ${length}`;
  const lines = ["POST /api/mutation HTTP/1.1", "host: localhost", "content-type: application/json"];
  socket.write(`${[...lines, framed, `connection: ${closes ? "close" : "keep-alive"}`].join("\r\n")}\r\n\r\n`);
  return socket;
}

/** With a fake clock of bodies: a busy machine would be too slow for a real one. */
async function atItsOwnPace(work: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    await work();
  } finally {
    vi.advanceTimersByTime(limits.bodyWindowMs); // ends the clock, which begins again with a real timer
    vi.useRealTimers();
  }
}

test("a body that arrives byte by byte is the one that was sent", () =>
  atItsOwnPace(async () => {
    const body = Buffer.from('{"name":"small.echo","args":"Grüße"}');
    const socket = await begin(body.length);
    for (const byte of body) {
      socket.write(Buffer.of(byte));
      await sleep(2);
    }
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*\{"json":"Grüße"\}/s);
  }));

test("a body with a byte order mark is read without it", async () => {
  const headers = { "content-type": "application/json" };
  const body = '\ufeff{"name":"small.echo","args":1}';
  expect((await svc.fetch("/api/mutation", { method: "POST", headers, body })).body).toEqual({ json: 1 });
});

test("a body of a known length that stalls is answered with 408, and its connection closed", async () => {
  const socket = await begin(1000, false);
  socket.write('{"name":"small.echo"');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 .*REQUEST_TIMEOUT/s);
  expect(calls).toBe(0);
});

test.for([
  ["of a known length", false],
  ["in chunks", true],
] as const)("a body %s that arrives slowly, but as fast as it must, is taken", ([, isChunked]) =>
  atItsOwnPace(async () => {
    const pieces = ['{"name":"small.echo","args":"', "a", "b", "c", "d", "e"].map((one) => one + "x".repeat(400));
    pieces.push('"}');
    const socket = await begin(isChunked ? null : pieces.join("").length);
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) vi.advanceTimersByTime(limits.bodyWindowMs);
      socket.write(isChunked ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece);
      // Two answers on connections of their own: the piece has arrived by then.
      for (let n = 0; n < 2; n++) await svc.fetch("/healthz");
    }
    if (isChunked) socket.write("0\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  }),
);
