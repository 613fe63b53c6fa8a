/** Limits a rate: a bucket that fills evenly, and from which each act takes what it costs. */

export interface Rate {
  /** How much at once, after a pause. */
  burst: number;
  perSecond: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  #left: number;
  #since = performance.now();

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.burst;
  }

  /** @returns in seconds, when to try again; 0: taken. An act that costs more than a burst waits for a full bucket */
  take(cost: number): number {
    const { burst, perSecond } = this.#rate;
    const now = performance.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#since) / 1000) * perSecond);
    this.#since = now;
    const missing = Math.min(cost, burst) - this.#left;
    if (missing > 0) return missing / perSecond;
    this.#left -= cost;
    return 0;
  }
}
