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

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a);
