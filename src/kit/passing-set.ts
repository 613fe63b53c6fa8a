/**
 * A set of objects of which each stays for a moment, such as the requests under way. A `Set` makes a new table after some
 * deletions, and the old table refers to the new one. As soon as V8's collections of young objects take one table for old, they
 * keep all later tables and what was in them, which is every request, until a full collection: docs/adr/0004-calls-before-express.md.
 */
const place = Symbol("place");
type Placed<T> = T & { [place]?: number | undefined };

/** An object is in one such set at a time. */
export class PassingSet<T extends object> {
  readonly #members: Placed<T>[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: Placed<T>): void {
    member[place] ??= this.#members.push(member) - 1;
  }

  delete(member: Placed<T>): void {
    const at = member[place];
    const last = this.#members.at(-1);
    if (at === undefined || !last) return;
    this.#members[at] = last;
    last[place] = at;
    this.#members.pop();
    member[place] = undefined;
  }

  /** Of those that are members now. */
  [Symbol.iterator](): Iterator<T> {
    return this.#members.slice().values();
  }
}
