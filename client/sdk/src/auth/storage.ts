/** Storage for the session token and the user, for reloads of the page. */

/** A part of the browser's `Storage`. */
export interface SessionStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export const sessionKey = "svc.session";
export const userKey = "svc.user";

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
