/**
 * Sends a packet over a connection. Short reads of one caller share it while they are under way: PostgreSQL continues with
 * the next one instead of going to sleep, and both sides are woken less often. Each read is a transaction of its own, with
 * its own identity in its packet.
 *
 * A read joins a connection only if
 * - a read of the same caller is under way there,
 * - the connection has prepared its statements, and its last answer on a connection of its own was quick,
 * - the connection leads directly to PostgreSQL: some poolers lose answers of packets that are under way together.
 *
 * A read that joined and has no answer after 50 ms is sent again on a connection of its own, and the first answer counts. So a
 * slow read delays only reads of its caller, and for a bounded time. Writes share nothing.
 * Next hop: `packet.ts`; docs/adr/0035-short-reads-share-a-connection.md.
 */
import type pg from "pg";
import { acquire, type Lease } from "./acquire.ts";
import { isConnectionLoss } from "./errors.ts";
import type { Identity } from "./identity.ts";
import { isPrepared } from "./packet.ts";

/** Reads that one connection has under way. */
const most = 4;

/** In milliseconds: a read whose answer takes longer gets a connection of its own the next time. */
const short = 10;

/** In milliseconds: how long a read waits for its answer on a connection that it has joined. */
const patience = 50;

/** Statements that are remembered as quick. */
const maxQuick = 1_000;

const direct = new WeakSet<pg.ClientBase>();

/** @param client a pipelined connection without a pooler between it and its backend */
export const allowSharing = (client: pg.ClientBase): void => void direct.add(client);

type Work<T> = (client: pg.PoolClient) => Promise<T>;
type Breaks = (error: unknown) => boolean;

/** A connection on loan. It is returned with the last answer of the packets that are under way on it. */
class Loan {
  readonly holder: string | undefined;
  readonly #lease: Lease;
  #underWay = 0;
  #isBroken = false;

  constructor(lease: Lease, holder?: string) {
    this.#lease = lease;
    this.holder = holder;
  }

  /** Not one that has been returned: it has nothing under way. */
  takes(names: readonly string[]): boolean {
    const { client } = this.#lease;
    if (this.#underWay === 0 || this.#underWay >= most || this.#isBroken) return false;
    return direct.has(client) && names.every((name) => isPrepared(client, name));
  }

  async send<T>(work: Work<T>, breaks: Breaks | undefined): Promise<T> {
    this.#underWay++;
    try {
      return await work(this.#lease.client);
    } catch (error) {
      if ((breaks ?? isConnectionLoss)(error)) this.#isBroken = true;
      throw error;
    } finally {
      if (--this.#underWay === 0) this.#lease.release(this.#isBroken);
    }
  }
}

interface Reads {
  /** By role and identity: the connection that the next read may join. */
  open: Map<string, Loan>;
  /** Names of statements whose last answer was quick, the one that was not used for the longest time first. */
  quick: Set<string>;
}

const readsOfPools = new WeakMap<pg.Pool, Reads>();

function readsOf(pool: pg.Pool): Reads {
  const known = readsOfPools.get(pool) ?? { open: new Map(), quick: new Set() };
  readsOfPools.set(pool, known);
  return known;
}

/**
 * Runs one packet on a connection, which reads of the same caller may share.
 *
 * @param names  of a read: the prepared statements of its packet, that of the answer last. None: it shares nothing
 * @param work   sends the packet at once, and nothing else. For a read that joined it may be called twice
 * @param breaks whether the connection must be closed after an error. (Default: after it is lost)
 * @throws as `acquire` and `work`
 */
export async function runPacket<T>(
  pool: pg.Pool,
  { role, setting, holder }: Identity,
  names: readonly string[],
  work: Work<T>,
  breaks?: Breaks,
): Promise<T> {
  const answer = names.at(-1);
  if (answer === undefined || holder === undefined) {
    return new Loan(await acquire(pool, holder)).send(work, breaks);
  }

  const { open, quick } = readsOf(pool);
  const caller = `${role} ${setting}`;
  const close = (loan: Loan) => open.get(caller) === loan && open.delete(caller);
  const joined = quick.has(answer) ? open.get(caller) : undefined;
  if (joined?.holder === holder && joined.takes(names)) {
    const first = joined.send(work, breaks);
    if (await isInTime(first)) return first;
    close(joined);
    quick.clear(); // which of them is slow is not known: nothing is shared until it has been quick again
    return Promise.race([first, sendAgain(pool, holder, first, work, breaks)]);
  }

  const loan = new Loan(await acquire(pool, holder), holder);
  const started = performance.now();
  const sent = loan.send(work, breaks);
  if (quick.has(answer)) open.set(caller, loan);
  try {
    return await sent;
  } finally {
    close(loan);
    quick.delete(answer);
    if (performance.now() - started < short) quick.add(answer);
    if (quick.size > maxQuick) quick.delete(quick.values().next().value ?? "");
  }
}

/** @returns `first`, if no connection is free or if it is answered by the time that one is */
async function sendAgain<T>(
  pool: pg.Pool,
  holder: string,
  first: Promise<T>,
  work: Work<T>,
  breaks: Breaks | undefined,
): Promise<T> {
  let isAnswered = false;
  const note = () => {
    isAnswered = true;
  };
  first.then(note, note);
  const lease = await acquire(pool, holder).catch(() => null);
  if (!lease) return first;
  if (!isAnswered) return new Loan(lease).send(work, breaks);
  lease.release();
  return first;
}

/** Whether the answer, or its error, comes while a read waits for it. */
function isInTime(answer: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const clock = setTimeout(resolve, patience, false);
    const stop = () => {
      clearTimeout(clock);
      resolve(true);
    };
    answer.then(stop, stop);
  });
}
