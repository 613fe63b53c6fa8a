/**
 * Keeps one process ready for the next document with its engines loaded, since loading takes longer than most
 * documents. Every document still gets a separate process, which ends afterwards.
 * Next hop: `sandbox.ts`.
 */
import { hold } from "../kit/confined-process.ts";
import { type Child, startChild } from "./sandbox.ts";

/** In milliseconds: after this idle time no process is kept ready. */
const longestIdle = 60_000;

export class PrewarmedProcess {
  #waiting: Child | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #start: typeof startChild;

  constructor(start = startChild) {
    this.#start = start;
  }

  /** Returns the waiting process, or a new one, and starts the next. */
  take(): Child {
    const taken = this.#waiting;
    this.#drop();
    if (!this.#isClosed) this.#prepare();
    // The process may have ended by itself.
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
