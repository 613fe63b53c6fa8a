/** Mutations and rows in the storage, under the user whose they are: one use after the other, so that no write overtakes another. */
import { type Entry, rowOf } from "./entry.ts";
import type { OutboxStorage } from "./storage.ts";

export class Shelf {
  readonly #storage: OutboxStorage;
  #last: Promise<unknown> = Promise.resolve();
  /** Rows that are to be written, by key. */
  readonly #rows = new Map<string, () => string | undefined>();

  constructor(storage: OutboxStorage) {
    this.#storage = storage;
  }

  /** Runs alone. */
  use<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Within `use`. Without those that cannot be read: they stop no other one. @param user (Default: of all) */
  async entries(user?: string): Promise<Entry[]> {
    const items = await this.#storage.read(user === undefined ? "outbox/" : `outbox/${user}/`);
    return items.flatMap(([key, text]) => parse(key, text)).sort(byId);
  }

  /** Within `use`, as `remove`. */
  write = (entry: Entry): Promise<unknown> => this.#storage.write(keyOf(entry), JSON.stringify(entry));
  remove = (entry: Entry): Promise<unknown> => this.#storage.remove(keyOf(entry));

  /** Within `use`. Writes an entry, if it has not been removed. @returns whether it has not */
  async rewrite(entry: Entry): Promise<boolean> {
    const isThere = (await this.#storage.read(keyOf(entry))).length > 0;
    if (isThere) await this.write(entry);
    return isThere;
  }

  /** Within `use`. Removes what waits of a user, also what cannot be read. */
  async clear(user: string): Promise<void> {
    for (const [key] of await this.#storage.read(`outbox/${user}/`)) await this.#storage.remove(key);
  }

  /** Keeps the rows of a collection, instead of those before. @param text gives none to remove them */
  keepRows(isSignedIn: () => boolean, user: string, collection: string, text: () => string | undefined): void {
    const key = `rows/${user}/${collection}`;
    const isScheduled = this.#rows.has(key);
    this.#rows.set(key, text);
    if (isScheduled) return;
    const write = async () => {
      const latest = isSignedIn() ? this.#rows.get(key)?.() : undefined;
      this.#rows.delete(key);
      await (latest === undefined ? this.#storage.remove(key) : this.#storage.write(key, latest));
    };
    this.use(write).catch(() => {}); // they are only a help
  }

  async rows(user: string, collection: string): Promise<string | undefined> {
    const key = `rows/${user}/${collection}`;
    const found = await this.use(() => this.#storage.read(key));
    return found.find(([name]) => name === key)?.[1];
  }

  /** Removes the rows of everybody else. */
  forgetOthers(user: string | undefined): Promise<void> {
    return this.use(async () => {
      for (const [key] of await this.#storage.read("rows/")) {
        if (!key.startsWith(`rows/${user}/`)) await this.#storage.remove(key);
      }
    });
  }
}

function parse(key: string, text: string): Entry[] {
  try {
    const entry = JSON.parse(text) as Entry;
    rowOf(entry);
    JSON.parse(entry.body);
    return keyOf(entry) === key ? [entry] : [];
  } catch {
    return [];
  }
}

const keyOf = ({ user, id }: Entry) => `outbox/${user}/${id}`;
export const byId = (a: Entry, b: Entry) => (a.id < b.id ? -1 : 1);
