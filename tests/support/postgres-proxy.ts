/** A proxy in front of PostgreSQL: cuts, refuses, falls silent, or drops notices as a pooler does. */
import type { Socket } from "node:net";
import { TcpProxy } from "./tcp-proxy.ts";

/** Type byte of NotificationResponse. */
const notification = 0x41;

export class PostgresProxy extends TcpProxy {
  /** The behaviour of all connections, also of open ones. */
  mode: "passes" | "refuses" | "falls silent" | "keeps notices" = "passes";
  /** All connections so far, and the open ones. */
  connections = 0;
  open = 0;

  /** @param target URL of the database to forward to */
  static start = (target: string): Promise<PostgresProxy> => new PostgresProxy(target).listen();

  protected forward(client: Socket): void {
    this.connections++;
    if (this.mode === "refuses") return void client.destroy();
    this.open++;
    const upstream = this.connect();
    client.on("data", (data) => {
      if (this.mode !== "falls silent") return void upstream.write(data);
      client.allowHalfOpen = true; // a host that has vanished does not answer the end of a connection either
    });
    const frames = new Frames();
    upstream.on("data", (data) => {
      for (const frame of frames.take(data)) {
        const isKept = this.mode === "keeps notices" && frame[0] === notification;
        if (this.mode !== "falls silent" && !isKept) client.write(frame);
      }
    });
    client.on("close", () => {
      this.open--;
      upstream.destroy();
    });
    upstream.on("close", () => client.destroy());
  }
}

/** Splits the server's output into messages: a type byte, then the length of the rest, including itself. */
class Frames {
  #rest = Buffer.alloc(0);

  *take(data: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, data]);
    while (this.#rest.length >= 5) {
      const length = 1 + this.#rest.readUInt32BE(1);
      if (this.#rest.length < length) return;
      yield this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
    }
  }
}
