/**
 * Limits how many calls run at once. The others wait in one queue per key, for example per network, and the keys take
 * turns: a key with one waiting call is served after one call of each other key, however many those have waiting. Used
 * for password hashes, image transforms and document parsing, so that they leave processor time for other requests.
 */
import { SvcError } from "./svc-error.ts";

export interface Turn {
  /** The key whose queue the call joins. (Default: one queue for all calls without a key) */
  key?: string;
  /** A call that has not started leaves the queue when this aborts. */
  signal?: AbortSignal;
}

interface Waiting {
  start: () => void;
  refuse: (error: SvcError) => void;
}

export class ConcurrencyLimiter {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #maxWaitingPerKey: number;
  /** Keys in the order of their turns. No queue is empty. */
  readonly #queues = new Map<string, Waiting[]>();
  #running = 0;
  #waiting = 0;

  /**
   * @param limit calls that run at once
   * @param maxWaiting calls that wait, of all keys together
   * @param maxWaitingPerKey calls of one key that wait (Default: `maxWaiting`)
   */
  constructor(limit: number, maxWaiting: number, maxWaitingPerKey = maxWaiting) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
    this.#maxWaitingPerKey = maxWaitingPerKey;
  }

  /**
   * Runs the call, at once or in its turn.
   *
   * @throws SvcError UNAVAILABLE when too many calls wait, or when the signal aborts before the call starts; errors of `call`
   */
  async run<T>(call: () => Promise<T>, { key = "", signal }: Turn = {}): Promise<T> {
    if (this.#running < this.#limit) this.#running++;
    else if (signal?.aborted) throw clientLeft();
    else await this.#wait(key, signal);
    try {
      // The client may have left just before its turn.
      if (signal?.aborted) throw clientLeft();
      return await call();
    } finally {
      // The slot passes directly to the next waiting call, so a new call cannot take it.
      const next = this.#takeNext();
      if (next) next.start();
      else this.#running--;
    }
  }

  async #wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    this.#makeRoom(key);
    let leave: (() => void) | undefined;
    try {
      await new Promise<void>((start, refuse) => {
        const waiting = { start, refuse };
        const queue = this.#queues.get(key);
        if (queue) queue.push(waiting);
        else this.#queues.set(key, [waiting]);
        this.#waiting++;
        leave = () => {
          this.#remove(key, waiting);
          refuse(clientLeft());
        };
        signal?.addEventListener("abort", leave);
      });
    } finally {
      if (leave) signal?.removeEventListener("abort", leave);
    }
  }

  /**
   * Refuses the call when its own key has too many waiting. When the whole queue is full, the newest call of the
   * longest queue gives up its place: one key cannot keep the others out.
   *
   * @throws SvcError UNAVAILABLE
   */
  #makeRoom(key: string): void {
    const mine = this.#queues.get(key)?.length ?? 0;
    if (mine >= this.#maxWaitingPerKey) throw tooMany();
    if (this.#waiting < this.#maxWaiting) return;
    const [longestKey, longest] = [...this.#queues].reduce<[string, Waiting[]]>(
      (found, entry) => (entry[1].length > found[1].length ? entry : found),
      ["", []],
    );
    const newest = longest.at(-1);
    if (newest === undefined || longest.length <= mine + 1) throw tooMany();
    this.#remove(longestKey, newest);
    newest.refuse(tooMany());
  }

  /** The oldest call of the key whose turn it is. That key's next turn comes after all others. */
  #takeNext(): Waiting | undefined {
    for (const [key, [next]] of this.#queues) {
      if (!next) continue;
      const queue = this.#remove(key, next);
      if (queue.length > 0) {
        this.#queues.delete(key);
        this.#queues.set(key, queue);
      }
      return next;
    }
    return undefined;
  }

  #remove(key: string, waiting: Waiting): Waiting[] {
    const queue = this.#queues.get(key) ?? [];
    const index = queue.indexOf(waiting);
    if (index < 0) return queue;
    queue.splice(index, 1);
    this.#waiting--;
    if (queue.length === 0) this.#queues.delete(key);
    return queue;
  }
}

const tooMany = () => new SvcError("UNAVAILABLE", undefined, { retryAfter: 2 });

/** Nobody reads this message: the connection is closed. */
const clientLeft = () => new SvcError("UNAVAILABLE", "The client closed the connection.");
