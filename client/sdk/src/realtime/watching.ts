/** The terms of a watched query: its answers, its watchers, and what it needs. Next hop: `watched-query.ts`. */
import type { Connection } from "./connection.ts";

/** An answer, and what it saw; null when that cannot be said. */
export interface Seen {
  result: unknown;
  snapshot: string | null;
  /** For the socket: what it was read from. Null where the service knows that without. */
  follows: string | null;
}

export interface WatchedQueryOptions {
  key: string;
  connection: Connection;
  /** @param retries at once, besides those of the watched query */
  fetch(signal: AbortSignal, retries: number): Promise<Seen>;
  /** Makes a result of what the service sent by itself. */
  decode(frame: { result?: unknown; data?: unknown }): unknown;
  /** Nobody watches any more. */
  unused(): void;
}

export interface Asking {
  /** An answer under way may be too old: it is dropped. */
  afresh?: boolean;
  /** Ends the interest in the answer. When nobody is interested any more, the request is aborted. */
  signal?: AbortSignal;
}

export interface Watcher {
  result(result: unknown): void;
  error(error: unknown): void;
}
