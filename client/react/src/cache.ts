/** Access of an optimistic update to the cached results of the current user, with undo. */
import type { InputOf, OutputOf, Query } from "@svc/client";
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import { hasPages, queryKey } from "./query-key.ts";

/** The first argument of `optimistic`. */
export interface OptimisticCache {
  /** The cached result of a query, if any. */
  get<Q extends Query>(operation: Q, args: InputOf<Q>): OutputOf<Q> | undefined;
  /** Changes the cached result of a query with these arguments, if any. */
  update<Q extends Query>(operation: Q, args: InputOf<Q>, change: (data: OutputOf<Q>) => OutputOf<Q>): void;
  /** Changes all cached results of a query, with any arguments: all pages of a list, for example. */
  updateAll<Q extends Query>(operation: Q, change: (data: OutputOf<Q>) => OutputOf<Q>): void;
}

export class RecordedCache implements OptimisticCache {
  readonly #queries: QueryClient;
  readonly #user: string | null;
  readonly #before = new Map<string, { key: readonly unknown[]; data: unknown }>();

  constructor(queries: QueryClient, user: string | null) {
    this.#queries = queries;
    this.#user = user;
  }

  get<Q extends Query>(operation: Q, args: InputOf<Q>): OutputOf<Q> | undefined {
    return this.#queries.getQueryData(queryKey(this.#user, operation, args));
  }

  update<Q extends Query>(operation: Q, args: InputOf<Q>, change: (data: OutputOf<Q>) => OutputOf<Q>): void {
    this.#change(queryKey(this.#user, operation, args), change as never);
  }

  updateAll<Q extends Query>(operation: Q, change: (data: OutputOf<Q>) => OutputOf<Q>): void {
    const kept = this.#queries.getQueriesData({ queryKey: ["svc", this.#user, operation.name] });
    const changePages = (data: InfiniteData<OutputOf<Q>>) => ({ ...data, pages: data.pages.map(change) });
    for (const [key] of kept) this.#change(key, (hasPages(key) ? changePages : change) as never);
  }

  /** Restores the previous results. */
  restore(): void {
    for (const { key, data } of this.#before.values()) this.#queries.setQueryData(key, data);
  }

  #change(key: readonly unknown[], change: (data: unknown) => unknown): void {
    const data = this.#queries.getQueryData(key);
    if (data === undefined) return;
    const name = JSON.stringify(key);
    if (!this.#before.has(name)) this.#before.set(name, { key, data });
    // The result of a running query does not have this change, and must not overwrite it.
    void this.#queries.cancelQueries({ queryKey: key, exact: true });
    this.#queries.setQueryData(key, change(data));
  }
}
