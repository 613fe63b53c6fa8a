/**
 * A proxy in front of PostgreSQL that cuts a connection around one message of its client: before the server gets it, while
 * the server works on it, or when the server has answered and the answer is on its way.
 */
import type { Socket } from "node:net";
import { TcpProxy } from "./tcp-proxy.ts";

export type Cut = "before" | "during" | "after";

/** The server's last message after a statement outside a transaction: ReadyForQuery, idle. */
const idle = Buffer.from("Z\0\0\0\x05I", "latin1");

export class CuttingProxy extends TcpProxy {
  /** A part of the client's message, and when to cut. Undefined passes everything. */
  cut: { at: string; when: Cut } | undefined;
  /** Whether new connections are refused. */
  refuses = false;
  /** How many connections were cut. */
  cuts = 0;

  /** @param target URL of the database to forward to */
  static start = (target: string): Promise<CuttingProxy> => new CuttingProxy(target).listen();

  protected forward(client: Socket): void {
    if (this.refuses) return void client.destroy();
    const upstream = this.connect();
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
}
