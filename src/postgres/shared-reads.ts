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
 * The connection is open to further reads as long as one is under way, up to a hundred. It is closed to them with the next
 * answer if somebody waits for a connection, so it returns after four answers more at most.
 *
 * A read that joined and has no answer after 50 ms is sent again on a connection of its own, and the first answer counts. So a
 * slow read delays only reads of its caller, and for a bounded time. Writes share nothing.
 * Next hop: `packet.ts`; docs/adr/0035-short-reads-share-a-connection.md.
 */
import type pg from "pg";
import { acquire, isAwaited, type Lease } from "./acquire.ts";
import { isDirect } from "./direct.ts";
import { isConnectionLoss } from "./errors.ts";
import type { Identity } from "./identity.ts";
import { isPrepared } from "./packet.ts";

/** Reads that one connection has under way. */
const most = 4;

/** Reads for which a connection is kept, however many come: where it leads is only decided when it goes back to the pool. */
const mostInRow = 100;

/** In milliseconds: a read whose answer takes longer gets a connection of its own the next time. */
const short = 10;

/** In milliseconds: how long a read waits for its answer on a connection that it has joined. */
const patience = 50;

/** Statements that are remembered as quick. */
const maxQuick = 1_000;

type Work<T> = (client: pg.PoolClient) => Promise<T>;
type Breaks = (error: unknown) => boolean;

/** What a pool knows of its short reads. */
class Reads {
  /** Connections that reads of their caller may join. In a `Map` each would leave something behind: docs/adr/0004-calls-before-express.md. */
  readonly #open: Loan[] = [];
  /** Names of statements whose last answer was quick, the one that was added first in front. */
  readonly #quick = new Set<string>();

  /** @returns the connection that a read of the caller may join */
  find(caller: string, names: readonly string[]): Loan | undefined {
    if (!this.#quick.has(names.at(-1) ?? "")) return undefined;
    return this.#open.find((loan) => loan.caller === caller && loan.takes(names));
  }

  open(loan: Loan, answer: string): void {
    if (this.#quick.has(answer)) this.#open.push(loan);
  }

  close(loan: Loan): void {
    const at = this.#open.indexOf(loan);
    if (at >= 0) this.#open.splice(at, 1);
  }

  /** @param took how long the statement's answer took, in milliseconds */
  note(answer: string, took: number): void {
    if (took >= short) this.#quick.delete(answer);
    else this.#quick.add(answer);
    if (this.#quick.size > maxQuick) this.#quick.delete(this.#quick.values().next().value ?? "");
  }

  /** Nothing is shared until it has been quick again. */
  doubtAll(): void {
    this.#quick.clear();
  }
}

/** A connection on loan. It is returned with the last answer of the packets that are under way on it. */
class Loan {
  readonly caller: string;
  readonly #lease: Lease;
  #underWay = 0;
  #reads = 0;
  #answeredAt = 0;
  #isBroken = false;

  constructor(lease: Lease, caller = "") {
    this.#lease = lease;
    this.caller = caller;
  }

  get isReturned(): boolean {
    return this.#underWay === 0;
  }

  takes(names: readonly string[]): boolean {
    const { client } = this.#lease;
    if (this.#underWay >= most || this.#reads >= mostInRow || this.#isBroken) return false;
    return isDirect(client) && names.every((name) => isPrepared(client, name));
  }

  /** @param onAnswer gets how long PostgreSQL took at most, in milliseconds: since the answer before, if there is one */
  async send<T>(work: Work<T>, breaks: Breaks = isConnectionLoss, onAnswer?: (took: number) => void): Promise<T> {
    this.#underWay++;
    this.#reads++;
    const sentAt = performance.now();
    try {
      return await work(this.#lease.client);
    } catch (error) {
      if (breaks(error)) this.#isBroken = true;
      throw error;
    } finally {
      const since = Math.max(sentAt, this.#answeredAt);
      this.#answeredAt = performance.now();
      if (--this.#underWay === 0) this.#lease.release(this.#isBroken);
      onAnswer?.(this.#answeredAt - since);
    }
  }
}

const readsOfPools = new WeakMap<pg.Pool, Reads>();

function readsOf(pool: pg.Pool): Reads {
  const known = readsOfPools.get(pool) ?? new Reads();
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
  if (answer === undefined || holder === undefined) return new Loan(await acquire(pool, holder)).send(work, breaks);

  const reads = readsOf(pool);
  const caller = `${role} ${setting} ${holder}`;
  const send = (loan: Loan) =>
    loan.send(work, breaks, (took) => {
      reads.note(answer, took);
      if (loan.isReturned || isAwaited(pool, holder)) reads.close(loan);
    });
  const joined = reads.find(caller, names);
  if (joined) {
    const first = send(joined);
    if (await isInTime(first)) return first;
    reads.close(joined);
    reads.doubtAll(); // which of them is slow is not known
    return Promise.race([first, sendAgain(pool, holder, first, work, breaks)]);
  }

  const loan = new Loan(await acquire(pool, holder), caller);
  reads.open(loan, answer);
  return send(loan);
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
