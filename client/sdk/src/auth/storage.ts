/** Storage for the session token and the user, for reloads of the page. */

/** A part of the browser's `Storage`. */
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

/**
 * Calls back when another tab changes an item, and when the page returns from the back/forward cache: Firefox and Safari
 * do not tell it what was changed meanwhile.
 *
 * @returns a function that ends it
 */
export function followOtherTabs(item: string, changed: () => void): () => void {
  const target = globalThis as Partial<Pick<Window, "addEventListener" | "removeEventListener">>;
  // The key is null when everything was cleared.
  const stored = ({ key }: StorageEvent) => {
    if (key === null || key === item) changed();
  };
  const shown = ({ persisted }: PageTransitionEvent) => {
    if (persisted) changed();
  };
  target.addEventListener?.("storage", stored);
  target.addEventListener?.("pageshow", shown);
  return () => {
    target.removeEventListener?.("storage", stored);
    target.removeEventListener?.("pageshow", shown);
  };
}
