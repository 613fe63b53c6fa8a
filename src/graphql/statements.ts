/**
 * Which of PostGraphile's statements are prepared. A connection keeps what it has prepared until it closes, and clients can
 * send any number of documents: only the first ones get a name, the others are planned each time.
 */

/** Prepared statements per connection, at most. */
const most = 200;

class PreparedNames {
  readonly #names = new Set<string>();

  /** @returns what to add to a statement's configuration */
  of(name: string | undefined): { name?: string } {
    if (name === undefined) return {};
    if (!this.#names.has(name)) {
      if (this.#names.size >= most) return {};
      this.#names.add(name);
    }
    return { name: `graphql_${name}`.slice(0, 63) }; // of a hash; PostgreSQL takes no more
  }
}

export const preparedNames = new PreparedNames();
