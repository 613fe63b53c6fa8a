/**
 * So many at once, so many behind them: what takes a processor for a while leaves the others to the rest of the process.
 * Whoever comes later is told to come back (UNAVAILABLE).
 */
import { SvcError } from "../errors/svc-error.ts";

export class Slots {
  #free: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number, maxWaiting: number) {
    this.#free = free;
    this.#maxWaiting = maxWaiting;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else {
      if (this.#waiting.length >= this.#maxWaiting) throw new SvcError("UNAVAILABLE", undefined, { retryAfter: 2 });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
