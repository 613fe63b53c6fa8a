/** Storage for the session token and the user, for reloads of the page. */

/** A part of the browser's `Storage`. One that answers later needs `loadStorage`. */
export interface SessionStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export const sessionKey = "svc.session";
export const userKey = "svc.user";
/** Cookie mode: another value tells the other tabs that the cookie has changed. */
export const cookieKey = "svc.cookie";

/** Lost when the page is closed or reloaded. */
export function memoryStorage(): SessionStorage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

/** The browser's localStorage; memory if there is none, if the browser forbids it, and for what a full one does not take. */
export function localStorageOrMemory(): SessionStorage {
  const memory = memoryStorage();
  let local: Storage;
  try {
    local = globalThis.localStorage;
    local.getItem(sessionKey);
  } catch {
    return memory;
  }
  return {
    getItem: (key) => memory.getItem(key) ?? local.getItem(key),
    setItem(key, value) {
      memory.removeItem(key);
      try {
        local.setItem(key, value);
      } catch {
        local.removeItem(key);
        memory.setItem(key, value);
      }
    },
    removeItem(key) {
      memory.removeItem(key);
      local.removeItem(key);
    },
  };
}

/** A storage that answers later, such as AsyncStorage of React Native, or SecureStore of Expo with these names. */
export interface LaterStorage {
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<unknown>;
  removeItem(key: string): Promise<unknown>;
}

/**
 * Reads the stored session, so that a client can begin with it. Writes go to the storage one after the other; where one
 * fails, the item is removed, and the next start of the app is signed out.
 *
 * @param storage such as AsyncStorage
 * @returns a value for `sessionTokenStorage` of `createAuthClient`
 * @throws what `getItem` rejects with
 * @example
 * const auth = createAuthClient(baseUrl, { sessionTokenStorage: await loadStorage(AsyncStorage) });
 */
export async function loadStorage(storage: LaterStorage): Promise<SessionStorage> {
  const items = memoryStorage();
  for (const key of [sessionKey, userKey]) {
    const value = await storage.getItem(key);
    if (value !== null) items.setItem(key, value);
  }
  let writing: Promise<unknown> = Promise.resolve();
  const write = (run: () => Promise<unknown>, key: string) => {
    writing = writing.then(run).catch(() => storage.removeItem(key).catch(() => {}));
  };
  return {
    getItem: items.getItem,
    setItem(key, value) {
      items.setItem(key, value);
      write(() => storage.setItem(key, value), key);
    },
    removeItem(key) {
      items.removeItem(key);
      write(() => storage.removeItem(key), key);
    },
  };
}

/**
 * Calls back when another tab changes an item, and when the page returns from the back/forward cache: Firefox and Safari
 * do not tell it what was changed meanwhile.
 *
 * @returns a function that ends it
 */
export function followOtherTabs(item: string, changed: () => void): () => void {
  const target = globalThis as Partial<Pick<Window, "addEventListener" | "removeEventListener">>;
  // The key is null when everything was cleared; a page that is shown has none.
  const listener = ({ key, persisted }: Partial<StorageEvent & PageTransitionEvent>) => {
    if (persisted || key === null || key === item) changed();
  };
  const events = ["storage", "pageshow"] as const;
  for (const event of events) target.addEventListener?.(event, listener);
  return () => {
    for (const event of events) target.removeEventListener?.(event, listener);
  };
}
