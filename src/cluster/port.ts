/** TCP ports of 127.0.0.1. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range of outgoing connections, so that the port is still free the next day. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
}

/** Whether the port is free. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
