/** What the proxies of `flaky-proxy.ts`, `cutting-proxy.ts` and `postgres-proxy.ts` share. */
import { type AddressInfo, createServer, connect as openConnection, type Server, type Socket } from "node:net";

export abstract class TcpProxy {
  readonly #server: Server;
  readonly #targets: URL[];
  #connections = 0;
  protected readonly sockets = new Set<Socket>();

  /** @param targets URLs to forward to, in turn */
  constructor(...targets: string[]) {
    this.#targets = targets.map((target) => new URL(target));
    this.#server = createServer((client) => {
      this.#watch(client);
      this.forward(client);
    });
  }

  /** Passes on what the client and the upstream of a connection say. */
  protected abstract forward(client: Socket): void;

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  /** The first target, through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = "127.0.0.1";
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href.replace(/^(https?:.*)\/$/, "$1"); // an origin
  }

  get target(): URL {
    return this.#targets[0] as URL;
  }

  /** Forwards new connections to another target. */
  retarget(target: string): void {
    this.#targets.splice(0, this.#targets.length, new URL(target));
  }

  /** A connection to the next target. */
  protected connect(): Socket {
    const { hostname, port } = this.#targets[this.#connections++ % this.#targets.length] as URL;
    const upstream = openConnection(Number(port || 5432), hostname);
    this.#watch(upstream);
    return upstream;
  }

  /** Breaks every open connection. */
  breakAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #watch(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("error", () => {}); // broken on purpose
    socket.on("close", () => this.sockets.delete(socket));
  }
}
