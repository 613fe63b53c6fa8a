/** The signed-in user, with subscriptions to changes. */
import { SvcError } from "../error.ts";

export interface User {
  id: string;
  email: string;
  name: string;
}

export interface AuthState {
  /** The JWT, while there is one; always null in cookie mode. */
  readonly token: string | null;
  readonly user: User | null;
  readonly isAuthenticated: boolean;
}

/** Holds the state. Its object changes exactly when its content does, as React's `useSyncExternalStore` requires. */
export class StateStore {
  #state: AuthState = { token: null, user: null, isAuthenticated: false };
  readonly #listeners = new Set<() => void>();

  get = (): AuthState => this.#state;

  /** @returns a function that ends the subscription */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(user: User | null, token: string | null): void {
    const before = this.#state;
    if (before.token === token && sameUser(before.user, user)) return;
    this.#state = Object.freeze({ token, user, isAuthenticated: user !== null });
    for (const listener of [...this.#listeners]) listener();
  }
}

const sameUser = (a: User | null, b: User | null) =>
  a === b || (a !== null && b !== null && a.id === b.id && a.email === b.email && a.name === b.name);

/** Only the user of an answer. @throws SvcError INVALID_ANSWER if it has none */
export function toUser(value: unknown): User {
  const { id, email, name } = (value ?? {}) as Partial<User>;
  if (typeof id === "string" && typeof email === "string" && typeof name === "string") return { id, email, name };
  throw new SvcError("INVALID_ANSWER", "The answer holds no user.");
}
