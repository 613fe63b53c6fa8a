/**
 * Sends frames. An event goes to many sockets: its frame is built once, with its header, and written to each of them;
 * `ws` would build a header for each socket. All frames for a socket in one turn of the event loop are sent with one
 * system call, also for a client with many subscriptions or a backlog.
 * Next hop: RFC 6455, section 5.2.
 */
import type { Duplex } from "node:stream";
import { toSvcError } from "../http/errors.ts";

/** A text message as one server frame. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = 0x81;
  if (head === 2) frame[1] = length;
  else {
    frame[1] = head === 4 ? 126 : 127;
    if (head === 4) frame.writeUInt16BE(length, 2);
    else frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, head);
  return frame;
}

/** What a frame tells of an error. */
export function errorMembers(error: unknown) {
  const { code, message, hint, issues, retryAfter } = toSvcError(error);
  return {
    code,
    error: message,
    ...(hint && { hint }),
    ...(issues && { issues }),
    ...(retryAfter && { retryAfter }),
  };
}

/** Of all connections: those with frames to send at the end of this turn. */
let held: Duplex[] = [];

function letGo(): void {
  const all = held;
  held = [];
  for (const socket of all) socket.uncork();
}

export class Outbox {
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  /** Bytes that the client has not taken yet. */
  get waiting(): number {
    return this.#socket.writableLength;
  }

  send(frame: Buffer): void {
    const socket = this.#socket;
    if (socket.writableCorked === 0) {
      socket.cork();
      if (held.push(socket) === 1) setImmediate(letGo);
    }
    socket.write(frame);
  }
}
