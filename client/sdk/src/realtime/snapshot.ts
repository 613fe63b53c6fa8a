/**
 * Which transactions a PostgreSQL snapshot saw: `xmin:xmax:xip,xip,…`. Those below xmax, except for the running ones, which are
 * listed; all below xmin have ended, so it says nothing more.
 * Source: https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT
 */
export class Snapshot {
  readonly #until: bigint;
  readonly #running: ReadonlySet<string>;

  constructor(text: string) {
    const [, until = "0", running = ""] = text.split(":");
    this.#until = BigInt(until);
    this.#running = new Set(running ? running.split(",") : []);
  }

  /** Whether it includes the changes of a transaction. */
  sees(xid: string): boolean {
    return BigInt(xid) < this.#until && !this.#running.has(xid);
  }

  /** Whether it includes the changes of all transactions below an id. */
  seesAllBelow(xid: string): boolean {
    const id = BigInt(xid);
    return id <= this.#until && ![...this.#running].some((running) => BigInt(running) < id);
  }
}
