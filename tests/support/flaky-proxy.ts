/** A TCP proxy that simulates bad networks: drops, delays, cuts, swallows. */
import type { Socket } from "node:net";
import { TcpProxy } from "./tcp-proxy.ts";

/** The fault of one connection. Numbers are bytes of the answer, or milliseconds. */
export type Fault =
  | { kind: "none" }
  /** The connection is closed when it opens. */
  | { kind: "refuse" }
  /** The request arrives; its answer is cut after this many bytes. */
  | { kind: "cut"; after: number }
  /** The request arrives; its answer is dropped. */
  | { kind: "swallow" }
  /** Every chunk in either direction is delayed. */
  | { kind: "delay"; ms: number };

export class FlakyProxy extends TcpProxy {
  /** Passes nothing on and closes nothing, as a network that is lost. */
  isMute = false;
  /** Called for each connection. */
  fault: () => Fault = () => ({ kind: "none" });

  /** @param targets the origins to forward to, in turn */
  static start = (...targets: string[]): Promise<FlakyProxy> => new FlakyProxy(...targets).listen();

  /** Breaks some of the connections. @param share from 0 to 1 */
  breakSome(share: number): void {
    for (const socket of this.sockets) if (Math.random() < share) socket.destroy();
  }

  /** The port of the first target. */
  get port(): number {
    return Number(this.target.port);
  }

  protected forward(client: Socket): void {
    const fault = this.fault();
    if (fault.kind === "refuse") return void client.destroy();
    const upstream = this.connect();
    const wait = fault.kind === "delay" ? fault.ms : 0;
    let left = fault.kind === "cut" ? fault.after : Number.POSITIVE_INFINITY;

    client.on("data", (data) => this.isMute || later(wait, () => upstream.write(withoutKeepAlive(data))));
    upstream.on("data", (data) => {
      if (fault.kind === "swallow" || this.isMute) return;
      later(wait, () => {
        client.write(data.subarray(0, left));
        left -= data.length;
        if (left <= 0) client.destroy();
      });
    });
    client.on("close", () => upstream.destroy());
    if (fault.kind !== "swallow") upstream.on("close", () => client.end());
  }
}

/** One request per connection, so that each has its own fault. */
const withoutKeepAlive = (data: Buffer) =>
  Buffer.from(data.toString("latin1").replace(/^connection: keep-alive/im, "connection: close"), "latin1");

const later = (ms: number, run: () => void) => (ms > 0 ? void setTimeout(run, ms) : run());
