/**
 * A watched query: one fetch and one subscription for all watchers with the same arguments. It never misses a change,
 * and does not fetch again for a change that it has already: an answer names the transactions that it saw, an event
 * names its transaction.
 * Next hop: `connection.ts` brings events, `snapshot.ts` compares.
 */
import { SvcError } from "../error.ts";
import type { Connection } from "./connection.ts";
import { Snapshot } from "./snapshot.ts";

/** An answer and its snapshot; null if unknown. */
export interface Seen {
  result: unknown;
  snapshot: string | null;
}

export interface WatchedQueryOptions {
  key: string;
  connection: Connection;
  fetch(): Promise<Seen>;
  /** Decodes a result that the service pushed. */
  decode(frame: { result?: unknown; data?: unknown }): unknown;
  /** The last watcher has left. */
  unused(): void;
}

export interface Watcher {
  result(result: unknown): void;
  error(error: unknown): void;
}

/** In milliseconds: changes within this time cause one fetch. */
const debounce = 25;
/** How long it is kept without watchers. */
const lingering = 500;
/** The polling interval while changes may not arrive: a shown result is then never older than five seconds. */
const pollEvery = 4_000;
/** Backoff of failed fetches: the first wait, doubled each time, and the longest. */
const firstRetry = 500;
const longestRetry = 30_000;

export class WatchedQuery {
  readonly #options: WatchedQueryOptions;
  readonly #watchers = new Set<Watcher>();
  readonly #stopFollowing: () => void;
  #last: { result: unknown } | undefined;
  #snapshot: Snapshot | null = null;
  #fetching: Promise<unknown> | undefined;
  /** Transactions of events that arrived during a fetch; "" means unknown. */
  #meanwhile: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #poll: ReturnType<typeof setInterval> | undefined;
  /** Failed fetches since the last success, and the time of the next try. */
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #ended = false;
  #era = 0;

  constructor(options: WatchedQueryOptions) {
    this.#options = options;
    const { connection, key } = options;
    this.#stopFollowing = connection.subscribe(() => this.#pollWhileDegraded());
    connection.listen(key, {
      subscribed: () => this.#changed(""),
      changed: (xid) => this.#changed(xid),
      updated: (frame, xid) => this.#updated(frame, xid),
      refused: ({ code, error, hint }) => {
        const refusal = new SvcError(code, error, { ...(hint !== undefined && { hint }) });
        for (const watcher of [...this.#watchers]) watcher.error(refusal);
      },
    });
    this.#pollWhileDegraded();
  }

  /** @returns a function that ends it */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    if (this.#last) watcher.result(this.#last.result);
    else if (!this.#fetching) this.refetch().catch(() => {});
    return () => {
      this.#watchers.delete(watcher);
      this.#endUnlessWatched();
    };
  }

  /** Another user has signed in: results of the previous user are dropped, also of running fetches. */
  reset(): void {
    this.#era++;
    this.#last = undefined;
    this.#snapshot = null;
    this.#fetching = undefined;
    if (this.#watchers.size > 0) this.refetch().catch(() => {});
  }

  /** Fetches, or waits for the running fetch. Watchers get the result too. */
  refetch(): Promise<unknown> {
    if (this.#fetching) return this.#fetching;
    const fetching = this.#fetch().finally(() => {
      if (this.#fetching !== fetching) return;
      this.#fetching = undefined;
      const missed = this.#meanwhile.splice(0).filter((xid) => !this.#has(xid));
      if (missed.length > 0) this.#schedule();
      this.#endUnlessWatched();
    });
    this.#fetching = fetching;
    return fetching;
  }

  async #fetch(): Promise<unknown> {
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    this.#timer = undefined;
    const era = this.#era;
    try {
      const { result, snapshot } = await this.#options.fetch();
      if (era !== this.#era) throw new SvcError("UNAUTHORIZED", "Somebody else has signed in meanwhile.");
      this.#snapshot = snapshot === null ? null : new Snapshot(snapshot);
      this.#failures = 0;
      this.#show(result);
      return result;
    } catch (error) {
      if (era === this.#era) {
        for (const watcher of [...this.#watchers]) watcher.error(error);
        // The reason for the fetch remains, and maybe no event will come to repeat it.
        if (passes(error)) this.#tryAgain();
      }
      throw error;
    }
  }

  #show(result: unknown): void {
    this.#last = { result };
    for (const watcher of [...this.#watchers]) watcher.result(result);
  }

  /** Whether the last answer includes the changes of this transaction. */
  #has(xid: string): boolean {
    return xid !== "" && this.#snapshot?.sees(xid) === true;
  }

  #changed(xid: string): void {
    if (this.#fetching) this.#meanwhile.push(xid);
    else if (!this.#has(xid)) this.#schedule();
  }

  #updated(frame: { result?: unknown; data?: unknown }, xid: string): void {
    if (this.#fetching) this.#meanwhile.push(xid);
    this.#snapshot = null;
    this.#show(this.#options.decode(frame));
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#ask(), debounce);
  }

  #tryAgain(): void {
    const longest = Math.min(firstRetry * 2 ** this.#failures++, longestRetry);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#ask(), Math.random() * longest);
  }

  #ask(): void {
    this.#timer = undefined;
    this.refetch().catch(() => {});
  }

  #pollWhileDegraded(): void {
    const degraded = this.#options.connection.getStatus() === "degraded";
    if (degraded === (this.#poll !== undefined)) return;
    clearInterval(this.#poll);
    this.#poll = degraded ? setInterval(() => this.refetch().catch(() => {}), pollEvery) : undefined;
  }

  /** Waits a moment, because a page that replaces a component often watches the same query again. */
  #endUnlessWatched(): void {
    setTimeout(() => this.#watchers.size === 0 && this.#end(), lingering);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const { connection, key, unused } = this.#options;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    clearInterval(this.#poll);
    this.#stopFollowing();
    connection.forget(key);
    unused();
  }
}

/** Whether a retry may succeed, because the query itself is valid. */
function passes(error: unknown): boolean {
  const { status } = error instanceof SvcError ? error : { status: 0 };
  return status < 400 || status >= 500 || status === 429;
}
