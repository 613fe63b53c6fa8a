/** Mutations and rows in the storage, under the user whose they are: one use after the other, so that no write overtakes another. */
import type { Entry } from "./entry.ts";
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

  /** Within `use`. @param user (Default: of all) */
  async entries(user?: string): Promise<Entry[]> {
    const items = await this.#storage.read(user === undefined ? "outbox/" : `outbox/${user}/`);
    return items.map(([, text]) => JSON.parse(text) as Entry).sort(byId);
  }

  /** Within `use`, as `remove`. */
  write = (entry: Entry): Promise<unknown> => this.#storage.write(keyOf(entry), JSON.stringify(entry));
  remove = (entry: Entry): Promise<unknown> => this.#storage.remove(keyOf(entry));

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

const keyOf = ({ user, id }: Entry) => `outbox/${user}/${id}`;
export const byId = (a: Entry, b: Entry) => (a.id < b.id ? -1 : 1);
