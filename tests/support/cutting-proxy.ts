/**
 * A proxy in front of PostgreSQL that cuts a connection around one message of its client: before the server gets it, while
 * the server works on it, or when the server has answered and the answer is on its way.
 */
import { type AddressInfo, createServer, connect as openConnection, type Server, type Socket } from "node:net";

export type Cut = "before" | "during" | "after";

/** The server's last message after a statement outside a transaction: ReadyForQuery, idle. */
const idle = Buffer.from("Z\0\0\0\x05I", "latin1");

export class CuttingProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  /** A part of the client's message, and when to cut. Undefined passes everything. */
  cut: { at: string; when: Cut } | undefined;
  /** Whether new connections are refused. */
  refuses = false;
  /** How many connections were cut. */
  cuts = 0;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
  }

  /** @param target URL of the database to forward to */
  static async start(target: string): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, new URL(target));
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

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #forward(client: Socket): void {
    this.#watch(client);
    if (this.refuses) return void client.destroy();
    const upstream = openConnection(Number(this.#target.port || 5432), this.#target.hostname);
    this.#watch(upstream);
    let isWaiting = false;
    const destroy = () => {
      this.cuts++;
      client.destroy();
      upstream.destroy();
    };
    client.on("data", (data) => {
      const { cut } = this;
      if (!cut || !data.includes(cut.at, 0, "latin1")) return void upstream.write(data);
      if (cut.when === "before") return destroy();
      isWaiting = cut.when === "after";
      upstream.write(data, () => {
        if (cut.when === "during") destroy();
      });
    });
    upstream.on("data", (data) => {
      if (!isWaiting) client.write(data);
      else if (data.includes(idle)) destroy();
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {}); // broken on purpose
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
