/** Many sockets that listen, from a process of their own. Next hop: `peers/listeners.ts`. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Order } from "./peers/listeners.ts";

export interface Listeners {
  /** Opens more of them. Resolves when all are connected and subscribed. */
  open(order: Order): Promise<void>;
  /** Resolves when so many events have been heard since the last time. */
  heard(events: number): Promise<void>;
  stop(): void;
}

export function listeners(): Listeners {
  const child = fork(join(import.meta.dirname, "peers/listeners.ts"));
  let stopping = false;
  child.on("exit", (code, signal) => {
    if (!stopping) throw new Error(`The listeners have ended: ${code ?? signal}.`);
  });
  const answer = async (order: Order) => {
    const answered = once(child, "message");
    child.send(order);
    await answered;
  };
  const stop = () => {
    stopping = true;
    child.disconnect();
  };
  return { open: answer, heard: (expect) => answer({ expect }), stop };
}
