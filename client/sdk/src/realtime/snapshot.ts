/**
 * Which transactions a PostgreSQL snapshot saw: `xmin:xmax:xip,xip,…`.
 * Source: https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT
 */
export class Snapshot {
  readonly #from: bigint;
  readonly #until: bigint;
  readonly #running: ReadonlySet<string>;

  constructor(text: string) {
    const [from = "0", until = "0", running = ""] = text.split(":");
    this.#from = BigInt(from);
    this.#until = BigInt(until);
    this.#running = new Set(running ? running.split(",") : []);
  }

  /** Whether it includes the changes of a transaction. */
  sees(xid: string): boolean {
    const id = BigInt(xid);
    return id < this.#from || (id < this.#until && !this.#running.has(xid));
  }

  /** Whether it includes the changes of all transactions below an id. */
  seesAllBelow(xid: string): boolean {
    const id = BigInt(xid);
    return id <= this.#from || (id <= this.#until && ![...this.#running].some((running) => BigInt(running) < id));
  }
}
