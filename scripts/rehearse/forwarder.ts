/**
 * A small balancer of TCP connections: each new one goes to the next target that answers. Sockets, streams and uploads need
 * no more, since any API process can take any connection.
 */
import { type AddressInfo, createServer, connect as openConnection, type Server, type Socket } from "node:net";

export class Forwarder {
  readonly #server: Server;
  readonly #targets: readonly number[];
  #next = 0;

  private constructor(server: Server, targets: readonly number[]) {
    this.#server = server;
    this.#targets = targets;
  }

  /** @param targets ports of this machine */
  static async start(targets: readonly number[]): Promise<Forwarder> {
    const server = createServer({ noDelay: true });
    const forwarder = new Forwarder(server, targets);
    server.on("connection", (client) => forwarder.#forward(client, targets.length));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return forwarder;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.close();
  }

  /** @param tries targets that are left to ask */
  #forward(client: Socket, tries: number): void {
    client.on("error", () => {}); // its end follows
    const port = this.#targets[this.#next++ % this.#targets.length] as number;
    const target = openConnection({ port, host: "127.0.0.1", noDelay: true });
    let connected = false;
    target.once("connect", () => {
      connected = true;
      client.pipe(target).pipe(client);
      client.once("close", () => target.destroy());
      target.once("close", () => client.destroy());
    });
    target.on("error", () => {
      if (connected) return;
      if (tries > 1) this.#forward(client, tries - 1);
      else client.destroy();
    });
  }
}
