/**
 * The transactions that the log has told of since it is read, and whether the snapshot of an answer has them. Not all
 * transactions below the last one: one that runs for long is told when it commits, and must keep nobody out.
 */
import { seesAllBelow, seesEach } from "./transaction-ids.ts";

/** In milliseconds, until what was committed is visible. */
const longestDelay = 10_000;
/** Transactions that are remembered: they were committed, so snapshots that do not see them yet will soon. */
const most = 10_000;

/** What had been told at a moment. */
export interface Told {
  count: number;
  /** The highest id. */
  last: bigint;
}

export class ToldTransactions {
  /** The number of each, in the order of the log. */
  readonly #numbers = new Map<string, number>();
  #count = 0;
  #last = 0n;
  #first = { xid: "0", at: 0 };

  /** The log is read again. @param first below which all were committed before */
  begin(first: string | null): void {
    this.#numbers.clear();
    this.#last = 0n;
    this.#first = { xid: first ?? "0", at: performance.now() };
  }

  add(xid: bigint): void {
    this.#last = xid > this.#last ? xid : this.#last;
    if (this.#numbers.set(String(xid), ++this.#count).size <= most) return;
    for (const oldest of this.#numbers.keys()) return void this.#numbers.delete(oldest);
  }

  get now(): Told {
    return { count: this.#count, last: this.#last };
  }

  /** What committed before the log was read is visible to all soon. @param told later transactions do not count */
  areIn(snapshot: string, told: Told): boolean {
    const { xid, at } = this.#first;
    if (performance.now() - at < longestDelay && !seesAllBelow(snapshot, xid)) return false;
    const isMeant = (one: string) => (this.#numbers.get(one) ?? Number.POSITIVE_INFINITY) <= told.count;
    return seesEach(snapshot, isMeant, told.last);
  }
}
