/** A TCP proxy that simulates bad networks: drops, delays, cuts, swallows. */

import type { AddressInfo } from "node:net";
import { createServer, connect as openConnection, type Server, type Socket } from "node:net";

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

export class FlakyProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Called for each connection. */
  fault: () => Fault = () => ({ kind: "none" });

  readonly #targets: URL[];
  #connections = 0;

  private constructor(server: Server, targets: URL[]) {
    this.#server = server;
    this.#targets = targets;
  }

  /** @param targets the origins to forward to, in turn */
  static async start(...targets: string[]): Promise<FlakyProxy> {
    const server = createServer();
    const proxy = new FlakyProxy(
      server,
      targets.map((target) => new URL(target)),
    );
    server.on("connection", (client) => {
      const { hostname, port } = proxy.#targets[proxy.#connections++ % targets.length] as URL;
      proxy.#forward(client, hostname, Number(port));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks every open connection. */
  breakAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Breaks some of the connections. @param share from 0 to 1 */
  breakSome(share: number): void {
    for (const socket of this.#sockets) if (Math.random() < share) socket.destroy();
  }

  /** The port of the first target. */
  get port(): number {
    return Number(this.#targets[0]?.port);
  }

  async stop(): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #forward(client: Socket, host: string, port: number): void {
    const fault = this.fault();
    this.#watch(client);
    if (fault.kind === "refuse") return void client.destroy();
    const upstream = openConnection(port, host);
    this.#watch(upstream);
    const wait = fault.kind === "delay" ? fault.ms : 0;
    let left = fault.kind === "cut" ? fault.after : Number.POSITIVE_INFINITY;

    client.on("data", (data) => later(wait, () => upstream.write(withoutKeepAlive(data))));
    upstream.on("data", (data) => {
      if (fault.kind === "swallow") return;
      later(wait, () => {
        client.write(data.subarray(0, left));
        left -= data.length;
        if (left <= 0) client.destroy();
      });
    });
    client.on("close", () => upstream.destroy());
    if (fault.kind !== "swallow") upstream.on("close", () => client.end());
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {}); // broken on purpose
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

/** One request per connection, so that each has its own fault. */
const withoutKeepAlive = (data: Buffer) =>
  Buffer.from(data.toString("latin1").replace(/^connection: keep-alive/im, "connection: close"), "latin1");

const later = (ms: number, run: () => void) => (ms > 0 ? void setTimeout(run, ms) : run());
