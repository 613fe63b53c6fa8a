/**
 * The transactions that the log has told of since it is read, and whether the snapshot of an answer has them. Not all
 * transactions below the last one: one that runs for long is told when it commits, and must keep nobody out.
 */
import { seesAllBelow, seesEach } from "./transaction-ids.ts";

/** In milliseconds, until what was committed is visible. */
const longestDelay = 10_000;
/** Transactions that are remembered: they were committed, so snapshots that do not see them yet will soon. */
const most = 10_000;

export class ToldTransactions {
  readonly #xids = new Set<string>();
  #last = 0n;
  #first = { xid: "0", at: 0 };

  /** The log is read again. @param first below which all were committed before */
  begin(first: string | null): void {
    this.#xids.clear();
    this.#last = 0n;
    this.#first = { xid: first ?? "0", at: performance.now() };
  }

  add(xid: bigint): void {
    this.#last = xid > this.#last ? xid : this.#last;
    if (this.#xids.add(String(xid)).size <= most) return;
    for (const oldest of this.#xids) return void this.#xids.delete(oldest);
  }

  /** What committed before the log was read is visible to all soon. */
  areIn(snapshot: string): boolean {
    const { xid, at } = this.#first;
    if (performance.now() - at < longestDelay && !seesAllBelow(snapshot, xid)) return false;
    return seesEach(snapshot, this.#xids, this.#last);
  }
}
