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

/** The browser's localStorage; memory if there is none, or if the browser forbids it. */
export function localStorageOrMemory(): SessionStorage {
  try {
    const { localStorage } = globalThis;
    localStorage.setItem("svc.probe", "");
    localStorage.removeItem("svc.probe");
    return localStorage;
  } catch {
    return memoryStorage();
  }
}

/** Calls back when another tab changes an item. @returns a function that ends it */
export function followOtherTabs(item: string, changed: () => void): () => void {
  const target = globalThis as Partial<Pick<Window, "addEventListener" | "removeEventListener">>;
  // The key is null when everything was cleared.
  const listener = ({ key }: StorageEvent) => {
    if (key === null || key === item) changed();
  };
  target.addEventListener?.("storage", listener);
  return () => target.removeEventListener?.("storage", listener);
}
