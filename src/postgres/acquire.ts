/**
 * Acquires a connection from a pool, and returns it with the end of its transaction. One caller may hold only a share of the
 * pool: a caller with many slow calls waits for its own, and leaves connections for others.
 */
import type pg from "pg";
import { SvcError } from "../kit/svc-error.ts";
import { isDirect } from "./direct.ts";
import { wireOf } from "./driver.ts";
import { isPlanOutdated, isStatementGone } from "./errors.ts";
import { end } from "./transaction-statements.ts";

/** A connection on loan. */
export interface Lease {
  client: pg.PoolClient;
  /**
   * Returns the connection, or destroys it. The function of this lease, stored at checkout: `client.release` is
   * replaced at each checkout, so a late call would return another holder's connection.
   */
  release(destroy?: boolean): void;
}

/**
 * @param holder whose share of the pool is used. (Default: none; only the pool's own limit applies)
 * @throws SvcError UNAVAILABLE when no connection became free within the pool's `connectionTimeoutMillis`, when the
 *   holder's share is used up, or when the database cannot be reached
 */
export async function acquire(pool: pg.Pool, holder = ""): Promise<Lease> {
  const limit = holder === "" ? undefined : shares.get(pool);
  const waiting = limit?.take(holder);
  if (waiting) await waiting;
  try {
    const client = await pool.connect();
    sendHeld(client);
    const { release } = client;
    if (!limit) return { client, release };
    return {
      client,
      release(destroy) {
        limit.giveBack(holder);
        release(destroy);
      },
    };
  } catch (cause) {
    limit?.giveBack(holder);
    throw new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause });
  }
}

/**
 * Ends the transaction of a lease and releases its connection; one that may still be inside a transaction is destroyed.
 *
 * @param failure of a transaction that is rolled back. The connection is destroyed if its plan was outdated, or its statement gone
 * @returns the command that PostgreSQL carried out
 */
export async function leave({ client, release }: Lease, how: keyof typeof end, failure?: unknown): Promise<string> {
  try {
    if (isPlanOutdated(failure) || isStatementGone(failure)) throw failure;
    const { command } = await client.query(end[how]);
    release();
    return command;
  } catch (error) {
    release(true);
    throw error;
  }
}

/** In milliseconds: how long COMMIT of a read waits for the next holder of its connection. */
const holdsBack = 1;

/** By connection: sends the COMMIT that is held back. */
const held = new WeakMap<pg.ClientBase, NodeJS.Timeout>();

/**
 * Commits a read, which has its result already: nobody waits for this. Its connection is returned at once, and COMMIT
 * leaves with the first statements of the next holder: a packet of its own costs both sides as much as a small call. If
 * the connection is lost meanwhile, the next statement on it fails.
 *
 * @param isBusy whether a statement is under way, for which no next holder should wait
 */
export function leaveRead(lease: Lease, isBusy: boolean): void {
  const { client, release } = lease;
  if (isBusy || !isDirect(client)) return void leave(lease, "commit").catch(() => {});
  const { stream } = wireOf(client);
  const send = () => {
    held.delete(client);
    stream.uncork();
  };
  stream.cork();
  held.set(client, setTimeout(send, holdsBack));
  client.query(end.commit).catch(() => {});
  release();
}

/** What is sent in this tick leaves together with a COMMIT that is held back. */
function sendHeld(client: pg.ClientBase): void {
  const timer = held.get(client);
  if (!timer) return;
  clearTimeout(timer);
  held.delete(client);
  process.nextTick(() => wireOf(client).stream.uncork());
}

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

  isAwaited(caller: string): boolean {
    return (this.#held.get(caller)?.waiting.length ?? 0) > 0;
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

/** Whether somebody waits for a connection of the pool, or the caller for one of its share. */
export const isAwaited = (pool: pg.Pool, caller: string): boolean =>
  pool.waitingCount > 0 || (shares.get(pool)?.isAwaited(caller) ?? false);

const tooMany = () =>
  new SvcError("UNAVAILABLE", "Too many of your calls are under way.", {
    retryAfter: 1,
    hint: "Send fewer calls at once, and those that take long one after the other.",
  });
