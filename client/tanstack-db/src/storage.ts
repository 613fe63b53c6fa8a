/** Where the outbox and kept rows lie: texts by key. */

/** A storage on the device. Keys and values are text; a write replaces a value as a whole, or not at all. */
export interface OutboxStorage {
  /** Pages with storages of one name have the same items, and tell each other of changes. (Default: no other page has them) */
  readonly name?: string | undefined;
  /** All items whose key begins with the prefix, in any order. */
  read(prefix: string): Promise<(readonly [key: string, value: string])[]>;
  /** Resolves when the item would survive the end of the program. */
  write(key: string, value: string): Promise<unknown>;
  remove(key: string): Promise<unknown>;
}

const store = "items";

/**
 * The browser's IndexedDB.
 *
 * @param name of the database. (Default: svc)
 */
export function indexedDbStorage(name = "svc"): OutboxStorage {
  let opened: Promise<IDBDatabase> | undefined;

  const open = () =>
    new Promise<IDBDatabase>((resolve, reject) => {
      const { indexedDB } = globalThis as Partial<typeof globalThis>;
      if (!indexedDB) throw new TypeError("There is no IndexedDB here. Pass `storage` to createOutbox.");
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(store);
      request.onerror = () => reject(request.error);
      request.onsuccess = () => resolve(request.result);
    });

  async function run<T>(mode: IDBTransactionMode, ask: (items: IDBObjectStore) => T): Promise<T> {
    opened ??= open();
    try {
      // strict: the browser's default may lose what it has called written, if the machine loses its power.
      const transaction = (await opened).transaction(store, mode, { durability: "strict" });
      const result = ask(transaction.objectStore(store));
      await new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
      return result;
    } catch (error) {
      opened = undefined; // a browser may close it at any time, for example when the user clears the site's data
      throw error;
    }
  }

  return {
    name,
    async read(prefix) {
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
      const [keys, values] = await run("readonly", (items) => [items.getAllKeys(range), items.getAll(range)] as const);
      return keys.result.map((key, at) => [String(key), String(values.result[at])]);
    },
    write: (key, value) => run("readwrite", (items) => void items.put(value, key)),
    remove: (key) => run("readwrite", (items) => void items.delete(key)),
  };
}
