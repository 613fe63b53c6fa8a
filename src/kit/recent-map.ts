/** A map with a limit: when the sizes of its entries exceed it, those set longest ago are dropped. */
export class RecentMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;
  readonly #sizeOf: (key: Key, value: Value) => number;
  #total = 0;

  /** @param sizeOf an entry's size, which must not change. (Default: 1, so that `most` is a number of entries) */
  constructor(most: number, sizeOf: (key: Key, value: Value) => number = () => 1) {
    this.#most = most;
    this.#sizeOf = sizeOf;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** As `get`; the entry then counts as the newest. */
  renew(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#total += this.#sizeOf(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#total <= this.#most) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const value = this.#entries.get(key);
    if (value !== undefined) this.#total -= this.#sizeOf(key, value);
    this.#entries.delete(key);
  }

  values(): Iterable<Value> {
    return this.#entries.values();
  }
}
