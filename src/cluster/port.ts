/** Free TCP ports. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** A port of 127.0.0.1, below the range of outgoing connections: it is still free the next day. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port, "127.0.0.1")) return port;
  }
}

/** Whether the port is free. @param host the address to listen on. (Default: all) */
export function isFree(port: number, host?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ port, host }, () => probe.close(() => resolve(true)));
  });
}
