/**
 * Sends short reads of one caller over one connection while it waits for their answers. PostgreSQL then goes on with the
 * next read instead of going to sleep, and both sides are woken less often. Each read is a transaction of its own, with its
 * own identity in its packet.
 *
 * A read joins only reads of the same caller, and only if it and they were answered quickly the last time. If the answer is
 * late nevertheless, the read is sent again on a connection of its own: so a slow read delays only reads of its caller, and
 * for a bounded time. Writes never join.
 * Next hop: `packet.ts`.
 */
import type pg from "pg";
import { acquire, type Lease } from "./acquire.ts";
import { isConnectionLoss } from "./errors.ts";
import type { Identity } from "./identity.ts";
import { isPrepared } from "./packet.ts";

/** Reads that one connection has in flight. */
const most = 4;
/** In milliseconds: a statement that takes longer gets a connection of its own the next time. */
const short = 10;
/** In milliseconds: how long a read waits for its answer on the connection of another one. */
const patience = 50;

/** Statements whose last answer is remembered. */
const maxNames = 1_000;

class Late extends Error {}

/** The connection of a read, which others may join until its answer has come. */
class SharedLease {
  readonly #lease: Lease;
  readonly #ended: () => void;
  #flight = 0;
  #isBroken = false;
  isOpen = true;

  constructor(lease: Lease, ended: () => void) {
    this.#lease = lease;
    this.#ended = ended;
  }

  takes(names: readonly string[]): boolean {
    return this.isOpen && this.#flight < most && names.every((name) => isPrepared(this.#lease.client, name));
  }

  async send<T>(work: (client: pg.PoolClient) => Promise<T>, breaks: (error: unknown) => boolean): Promise<T> {
    this.#flight++;
    try {
      return await work(this.#lease.client);
    } catch (error) {
      if (breaks(error)) this.#isBroken = true;
      throw error;
    } finally {
      if (--this.#flight === 0) this.#end();
    }
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#ended();
  }

  #end(): void {
    this.close();
    this.#lease.release(this.#isBroken);
  }
}

interface PoolReads {
  /** By caller: the connection that the next read may join. */
  open: Map<string, SharedLease>;
  /** Statements that were answered quickly the last time, the one that was not used for the longest time first. */
  quick: Set<string>;
}

const reads = new WeakMap<pg.Pool, PoolReads>();

function readsOf(pool: pg.Pool): PoolReads {
  const known = reads.get(pool) ?? { open: new Map(), quick: new Set() };
  reads.set(pool, known);
  return known;
}

/**
 * Runs one packet on a connection, which a read may share with other reads of the caller.
 *
 * @param names  the prepared statements of its packet, that of the answer last; none: it shares no connection
 * @param work   sends the packet at once
 * @param breaks whether the connection must be closed after an error. (Default: after it is lost)
 * @throws as `acquire` and `work`
 */
export async function runPacket<T>(
  pool: pg.Pool,
  identity: Identity,
  names: readonly string[],
  work: (client: pg.PoolClient) => Promise<T>,
  breaks: (error: unknown) => boolean = isConnectionLoss,
): Promise<T> {
  const { open, quick } = readsOf(pool);
  const caller = `${identity.role} ${identity.userId} ${identity.holder}`;
  const answer = names.at(-1) ?? "";
  if (quick.has(answer)) {
    const joined = open.get(caller);
    if (joined?.takes(names)) {
      try {
        return await inTime(joined.send(work, breaks));
      } catch (error) {
        if (!(error instanceof Late)) throw error;
        // Nothing is shared until it has been quick again.
        quick.clear();
        joined.close();
      }
    }
  }

  const lease = await acquire(pool, identity.holder);
  const own = new SharedLease(lease, () => {
    if (open.get(caller) === own) open.delete(caller);
  });
  if (quick.has(answer)) open.set(caller, own);
  const started = performance.now();
  try {
    return await own.send(work, breaks);
  } finally {
    own.close();
    quick.delete(answer);
    if (answer !== "" && performance.now() - started < short) remember(quick, answer);
  }
}

function remember(quick: Set<string>, name: string): void {
  quick.add(name);
  if (quick.size <= maxNames) return;
  const [oldest = ""] = quick;
  quick.delete(oldest);
}

/** @throws Late; what comes later is left unread */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const clock = setTimeout(() => reject(new Late()), patience);
    answer.then(
      (value) => {
        clearTimeout(clock);
        resolve(value);
      },
      (error) => {
        clearTimeout(clock);
        reject(error);
      },
    );
  });
}
