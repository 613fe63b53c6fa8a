/** Runs the sending of an outbox: when asked, when the connection comes back, and again some time after an error. */
import { SvcError } from "@svc/client";
import type { AnyClient } from "./send.ts";

/** In milliseconds. */
const firstRetry = 500;
const longestRetry = 30_000;
const longestTimer = 2 ** 31 - 1;

export class Tries {
  readonly #run: () => Promise<void>;
  readonly #stop: (() => void)[];
  #isRunning = false;
  #again = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  isClosed = false;

  constructor({ realtime }: AnyClient, run: () => Promise<void>) {
    this.#run = run;
    const connected = () => {
      this.#failures = 0;
      this.begin();
    };
    const page = globalThis as Partial<Pick<Window, "addEventListener" | "removeEventListener">>;
    page.addEventListener?.("online", connected);
    this.#stop = [
      () => page.removeEventListener?.("online", connected),
      realtime.subscribe(() => realtime.getStatus() === "live" && connected()),
    ];
  }

  /** Runs now; once more afterwards, if it is running. */
  begin = (): void => {
    clearTimeout(this.#timer);
    this.#again = this.#isRunning;
    if (this.#isRunning || this.isClosed) return;
    this.#isRunning = true;
    this.#run().then(
      () => {
        this.#failures = 0;
        this.#end();
      },
      (error) => this.#end(error),
    );
  };

  #end(error?: unknown): void {
    this.#isRunning = false;
    if (this.#again) this.begin();
    else if (error !== undefined) this.later(error);
  }

  /** Runs some time after an error. */
  later = (error: unknown): void => {
    // Jitter: many devices lose one service.
    const longest = Math.min(firstRetry * 2 ** this.#failures++, longestRetry);
    const seconds = error instanceof SvcError ? error.retryAfter : undefined;
    // The service may ask for no time at all, and a timer of more than 24 days runs at once.
    const ms = Math.min(Math.max(Math.random() * longest, (seconds ?? 0) * 1000), longestTimer);
    clearTimeout(this.#timer);
    if (!this.isClosed) this.#timer = setTimeout(this.begin, ms);
  };

  close(): void {
    this.isClosed = true;
    clearTimeout(this.#timer);
    for (const stop of this.#stop) stop();
  }
}

/** What the application throws is an unhandled rejection, and stops nothing. */
export const call = (run: () => unknown) => void (async () => run())();
