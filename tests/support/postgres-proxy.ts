/** A proxy in front of PostgreSQL: cuts, refuses, falls silent, or drops notices as a pooler does. */
import { type AddressInfo, createServer, connect as openConnection, type Server, type Socket } from "node:net";

/** Type byte of NotificationResponse. */
const notification = 0x41;

export class PostgresProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: URL;
  /** The behaviour of all connections, also of open ones. */
  mode: "passes" | "refuses" | "falls silent" | "keeps notices" = "passes";
  /** All connections so far, and the open ones. */
  connections = 0;
  open = 0;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
  }

  /** @param target URL of the database to forward to */
  static async start(target: string): Promise<PostgresProxy> {
    const server = createServer();
    const proxy = new PostgresProxy(server, new URL(target));
    server.on("connection", (client) => proxy.#forward(client));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** The same database and login, through this proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = "127.0.0.1";
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Breaks every open connection. */
  breakAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #forward(client: Socket): void {
    this.connections++;
    this.#watch(client);
    if (this.mode === "refuses") return void client.destroy();
    this.open++;
    const upstream = openConnection(Number(this.#target.port || 5432), this.#target.hostname);
    this.#watch(upstream);
    client.on("data", (data) => void (this.mode === "falls silent" || upstream.write(data)));
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

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {}); // broken on purpose
    socket.on("close", () => this.#sockets.delete(socket));
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
