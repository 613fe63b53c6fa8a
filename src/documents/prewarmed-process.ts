/**
 * Keeps one process ready for the next document, its engines loaded: that takes longer than most documents do. Every
 * document still has a process of its own, which ends with it.
 * Next hop: `sandbox.ts`.
 */
import type { Socket } from "node:net";
import { type Child, startChild } from "./sandbox.ts";

/** In milliseconds: nothing is kept ready for those who have stopped converting. */
const longestIdle = 60_000;

export class PrewarmedProcess {
  #waiting: Child | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #start: typeof startChild;

  constructor(start = startChild) {
    this.#start = start;
  }

  /** The process that waits, or a new one; another begins to wait. */
  take(): Child {
    const taken = this.#waiting;
    this.#drop();
    if (!this.#isClosed) this.#prepare();
    // One that has ended by itself is of no use.
    if (!taken || taken.exitCode !== null || taken.signalCode !== null) return this.#start();
    hold(taken, "ref");
    return taken;
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting?.kill("SIGKILL");
    this.#drop();
  }

  #prepare(): void {
    const spare = this.#start({}, "spare");
    spare.on("error", () => {}); // the next conversion starts another one
    // It keeps no process from ending, and ends with this one: its standard input does.
    hold(spare, "unref");
    this.#waiting = spare;
    this.#timer = setTimeout(() => {
      spare.kill("SIGKILL");
      this.#drop();
    }, longestIdle).unref();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#waiting = undefined;
  }
}

function hold(child: Child, how: "ref" | "unref"): void {
  child[how]();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as Socket)[how]();
}
