/**
 * Limits how many connections of a pool one caller may hold: a caller with many slow calls waits for its own, and
 * leaves connections for others.
 * Next hop: `acquire.ts` asks for a share before it takes a connection.
 */
import type pg from "pg";
import { SvcError } from "../kit/svc-error.ts";

/** Waiting calls per caller; each holds a request that has no answer yet. */
const maxWaiting = 100;

interface Held {
  count: number;
  /** Waiting calls of the same caller, oldest first. */
  waiting: (() => void)[];
}

export class Shares {
  readonly #most: number;
  readonly #waitMs: number;
  readonly #held = new Map<string, Held>();

  /**
   * @param most   connections that a caller may hold at once
   * @param waitMs how long a further call of the caller waits, in milliseconds
   */
  constructor(most: number, waitMs: number) {
    this.#most = most;
    this.#waitMs = waitMs;
  }

  /** Callers that hold a connection. */
  get size(): number {
    return this.#held.size;
  }

  /**
   * @returns a promise if the caller must wait, otherwise undefined: most calls need not wait
   * @throws SvcError UNAVAILABLE when too many calls of the caller wait, or when the wait was too long
   */
  take(caller: string): Promise<void> | undefined {
    const held = this.#held.get(caller);
    if (!held) {
      this.#held.set(caller, { count: 1, waiting: [] });
      return undefined;
    }
    if (held.count < this.#most) {
      held.count++;
      return undefined;
    }
    if (held.waiting.length >= maxWaiting) throw tooMany();
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(clock);
        resolve();
      };
      const clock = setTimeout(() => {
        held.waiting.splice(held.waiting.indexOf(enter), 1);
        reject(tooMany());
      }, this.#waitMs);
      held.waiting.push(enter);
    });
  }

  giveBack(caller: string): void {
    const held = this.#held.get(caller);
    if (!held) return;
    // The slot passes directly to the caller's next call.
    const next = held.waiting.shift();
    if (next) next();
    else if (--held.count === 0) this.#held.delete(caller);
  }
}

const shares = new WeakMap<pg.Pool, Shares>();

export const limitShares = (pool: pg.Pool, most: number, waitMs: number): void =>
  void shares.set(pool, new Shares(most, waitMs));

/** @returns undefined for a pool without shares */
export const sharesOf = (pool: pg.Pool): Shares | undefined => shares.get(pool);

const tooMany = () =>
  new SvcError("UNAVAILABLE", "Too many of your calls are under way.", {
    retryAfter: 1,
    hint: "Send fewer calls at once, and those that take long one after the other.",
  });
