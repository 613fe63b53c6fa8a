/**
 * So many calls at once, so many behind them: what holds a processor, memory or connections for a while leaves the rest of
 * them to the rest of the process. For passwords that are hashed, images that are made, texts that are taken apart.
 */
import { SvcError } from "../errors/svc-error.ts";

export class Gate {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /**
   * @param limit      calls that run at once
   * @param maxWaiting calls that may wait; more are told to come back
   */
  constructor(limit: number, maxWaiting: number) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  /** @throws SvcError UNAVAILABLE when too many wait already */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running++;
    else if (this.#waiting.length >= this.#maxWaiting) throw new SvcError("UNAVAILABLE", undefined, { retryAfter: 2 });
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await call();
    } finally {
      // The place goes straight to the next in line, so nobody who comes now can slip in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
