/** The 64-bit ids of transactions. The log has their lower halves. */
export class TransactionIds {
  /** The highest id so far. */
  recent: bigint;

  /** @param recent an id near to the first one */
  constructor(recent: bigint) {
    this.recent = recent;
  }

  /** @returns the id nearest to a recent one, as fewer than 2^31 are in use */
  full(lower: number): bigint {
    const near = (this.recent & ~0xffff_ffffn) | BigInt(lower);
    const id = [near - 2n ** 32n, near, near + 2n ** 32n].reduce((best, candidate) =>
      distance(candidate, this.recent) < distance(best, this.recent) ? candidate : best,
    );
    if (id > this.recent) this.recent = id;
    return id;
  }
}

/** Whether a snapshot, `xmin:xmax:xip,xip,…`, has the changes of a transaction. As in client/sdk/src/realtime/snapshot.ts. */
export function sees(snapshot: string, xid: string): boolean {
  const [, until = "0", running = ""] = snapshot.split(":");
  return BigInt(xid) < BigInt(until) && !running.split(",").includes(xid);
}

/** Whether a snapshot has the changes of all transactions below an id. */
export function seesAllBelow(snapshot: string, xid: string): boolean {
  const [, until = "0", running = ""] = snapshot.split(":");
  return BigInt(xid) <= BigInt(until) && !running.split(",").some((one) => one !== "" && BigInt(one) < BigInt(xid));
}

/** Whether a snapshot has the changes of all transactions that are meant. @param last the highest id of them */
export function seesEach(snapshot: string, isMeant: (xid: string) => boolean, last: bigint): boolean {
  const [, until = "0", running = ""] = snapshot.split(":");
  return last < BigInt(until) && !running.split(",").some(isMeant);
}

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a);
