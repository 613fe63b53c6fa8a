/**
 * So many calls at once, so many behind them, as in `gate.ts`; but the callers have names, and those who wait are let in by
 * turns: one call of each caller, then the next of each. A caller with a hundred calls delays another caller by one of them.
 */
import { SvcError } from "../errors/svc-error.ts";

interface Waiting {
  enter(): void;
  refuse(): void;
}

export class FairGate {
  readonly #limit: number;
  readonly #maxWaiting: number;
  /** By caller, in the order of their turns: the first is next. */
  readonly #queues = new Map<string, Waiting[]>();
  #waiting = 0;
  #running = 0;

  /**
   * @param limit      calls that run at once
   * @param maxWaiting calls of all callers together that may wait
   */
  constructor(limit: number, maxWaiting: number) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * @param caller whose turn it takes, such as a network
   * @param signal ends the wait; a call that has begun goes on
   * @throws SvcError UNAVAILABLE when too many wait; the signal's reason when it ended the wait
   */
  async run<T>(caller: string, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running < this.#limit) this.#running++;
    else await this.#wait(caller, signal);
    try {
      return await call();
    } finally {
      // The place goes straight to the next in line, so nobody who comes now can slip in between.
      const next = this.#next();
      if (next) next.enter();
      else this.#running--;
    }
  }

  #wait(caller: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting >= this.#maxWaiting && !this.#makeRoom(caller)) throw busy();
    return new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#remove(caller, entry);
        reject(signal?.reason);
      };
      const entry: Waiting = {
        enter: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
        refuse: () => {
          signal?.removeEventListener("abort", leave);
          reject(busy());
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting++;
      const queue = this.#queues.get(caller);
      if (queue) queue.push(entry);
      else this.#queues.set(caller, [entry]);
    });
  }

  /** Of whom most wait gives up the last one, for a caller of whom fewer do. @returns whether there is room now */
  #makeRoom(caller: string): boolean {
    const [longest, queue] = [...this.#queues].reduce((a, b) => (b[1].length > a[1].length ? b : a), ["", []]);
    if (queue.length <= (this.#queues.get(caller)?.length ?? 0) + 1) return false;
    const last = queue.at(-1);
    if (!last) return false;
    this.#remove(longest, last);
    last.refuse();
    return true;
  }

  #next(): Waiting | undefined {
    for (const [caller, queue] of this.#queues) {
      const next = queue[0];
      if (!next) continue;
      this.#remove(caller, next);
      // Behind all others: a map keeps the order in which its keys were added.
      if (queue.length > 0) {
        this.#queues.delete(caller);
        this.#queues.set(caller, queue);
      }
      return next;
    }
    return undefined;
  }

  #remove(caller: string, entry: Waiting): void {
    const queue = this.#queues.get(caller) ?? [];
    const at = queue.indexOf(entry);
    if (at < 0) return;
    queue.splice(at, 1);
    this.#waiting--;
    if (queue.length === 0) this.#queues.delete(caller);
  }
}

const busy = () => new SvcError("UNAVAILABLE", undefined, { retryAfter: 2 });
