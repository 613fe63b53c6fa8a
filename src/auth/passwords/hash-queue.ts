/**
 * Limits concurrent password hashes. Waiting networks take turns, so that many sign-ins from one network do not delay the others.
 * Next hop: `../../kit/concurrency-limiter.ts`; `passwords.ts` hashes.
 */
import { ConcurrencyLimiter } from "../../kit/concurrency-limiter.ts";
import { currentCaller } from "../caller.ts";

/**
 * Passwords hashed at once: scrypt holds a thread of libuv, which has four, and one must stay free for everything else,
 * above all to verify JWTs. Each hash also takes 32 MiB.
 */
const maxHashes = 3;

/** Sign-ins that may wait for a hash: some seconds' worth. */
const maxWaiting = 100;

/** Waiting sign-ins of one network. A browser sends one at a time; a bridge without client addresses sends those of all users. */
const maxWaitingPerNetwork = 20;

export class HashQueue {
  readonly #limiter: ConcurrencyLimiter;

  /** @param connections of the pool: a sign-up holds one while it hashes, and one must stay free for sessions */
  constructor(connections: number) {
    this.#limiter = new ConcurrencyLimiter(
      Math.max(1, Math.min(maxHashes, connections - 1)),
      maxWaiting,
      maxWaitingPerNetwork,
    );
  }

  /**
   * Runs a hash when it is the caller's network's turn. It is skipped when the client has disconnected before.
   *
   * @throws SvcError UNAVAILABLE when too many wait, or the client has left; errors of `call`
   */
  run<T>(call: () => Promise<T>): Promise<T> {
    const caller = currentCaller();
    return this.#limiter.run(call, caller && { key: caller.network, signal: caller.left() });
  }
}
