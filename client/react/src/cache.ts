/**
 * Optimistic changes. They lie over the results of the service until their mutation has ended: a result that comes
 * meanwhile gets them too, and a mutation that fails takes back its own changes alone.
 * Next hop: `use-mutation.ts` makes one `OptimisticChange` for each call.
 */
import type {
  ArgumentsOf,
  IncludeOf,
  OnlyKnown,
  OutputOf,
  Query,
  Resource,
  ResourceInput,
  ResourceOutput,
  ResourceQuery,
  SelectOf,
} from "@svc/client";
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import { hasPages, infiniteQueryKey, queryKey } from "./query-key.ts";

/** The first argument of `optimistic`. */
export interface OptimisticCache {
  /** The cached result of a query, if any. */
  get<
    R extends Resource,
    Input,
    Output,
    const I extends IncludeOf<R> = Record<never, never>,
    const S extends SelectOf<R> = SelectOf<R>,
  >(
    operation: ResourceQuery<R, Input, Output> & OnlyKnown<R, I>,
    args: ResourceInput<R, Input, I, S>,
  ): ResourceOutput<R, Output, I, S> | undefined;
  get<Q extends Query>(operation: Q, args: ArgumentsOf<Q>): OutputOf<Q> | undefined;
  /**
   * Changes the cached result of a query with these arguments, if any, and each page of an infinite list with them.
   *
   * @param change gets the result or page, and the page's number, from 0
   */
  update<
    R extends Resource,
    Input,
    Output,
    const I extends IncludeOf<R> = Record<never, never>,
    const S extends SelectOf<R> = SelectOf<R>,
  >(
    operation: ResourceQuery<R, Input, Output> & OnlyKnown<R, I>,
    args: ResourceInput<R, Input, I, S>,
    change: (data: ResourceOutput<R, Output, I, S>, page: number) => ResourceOutput<R, Output, I, S>,
  ): void;
  update<Q extends Query>(
    operation: Q,
    args: ArgumentsOf<Q>,
    change: (data: OutputOf<Q>, page: number) => OutputOf<Q>,
  ): void;
  /** Changes all cached results of a query, with any arguments: all pages of a list, for example. */
  updateAll<Q extends Query>(operation: Q, change: (data: OutputOf<Q>, page: number) => OutputOf<Q>): void;
}

type Key = readonly unknown[];
/** The data as it is shown with a change; `key` says which result it is. */
type Change = (key: Key, data: unknown) => unknown;

/** The changes of one call of a mutation. */
export class OptimisticChange implements OptimisticCache {
  readonly #queries: QueryClient;
  readonly #user: string | null;
  readonly #layers: Layers;
  readonly #changes: Change[] = [];

  constructor(queries: QueryClient, user: string | null) {
    this.#queries = queries;
    this.#user = user;
    this.#layers = layersOf(queries);
    this.#layers.add(this);
  }

  get(operation: Query, args: unknown): never {
    return this.#queries.getQueryData(queryKey(this.#user, operation, args)) as never;
  }

  update(operation: Query, args: unknown, change: (data: never, page: number) => unknown): void {
    const wanted = [
      queryKey(this.#user, operation, args),
      infiniteQueryKey(this.#user, operation, { cursor: null, ...(args as object) }),
    ].map((key) => JSON.stringify(key));
    this.#change((key, data) => (wanted.includes(JSON.stringify(key)) ? changed(key, data, change) : data));
  }

  updateAll<Q extends Query>(operation: Q, change: (data: OutputOf<Q>, page: number) => OutputOf<Q>): void {
    this.#change((key, data) =>
      key[1] === this.#user && key[2] === operation.name ? changed(key, data, change as never) : data,
    );
  }

  apply(key: Key, data: unknown): unknown {
    return this.#changes.reduce((changed, change) => change(key, changed), data);
  }

  /** The mutation has succeeded: the next results of the service have the changes. */
  keep(): void {
    this.#layers.settle(this, true);
  }

  /** The mutation has failed. */
  takeBack(): void {
    this.#layers.settle(this, false);
  }

  #change(change: Change): void {
    this.#changes.push(change);
    this.#layers.show();
  }
}

/** A cached result: as the service gave it, and as it is shown. */
interface Covered {
  base: unknown;
  shown: unknown;
}

/** The changes of all mutations under way, in their order, over the results of a cache. */
class Layers {
  readonly #queries: QueryClient;
  readonly #changes = new Set<OptimisticChange>();
  readonly #covered = new Map<string, Covered>();
  #stopListening: (() => void) | undefined;
  #isWriting = false;

  constructor(queries: QueryClient) {
    this.#queries = queries;
  }

  add(change: OptimisticChange): void {
    this.#changes.add(change);
    // Listeners run before components hear of a result, so they never show it without the changes.
    this.#stopListening ??= this.#queries.getQueryCache().subscribe((event) => {
      const { queryKey: key, queryHash, state } = event.query;
      if (event.type === "removed") this.#covered.delete(queryHash);
      else if (event.type === "updated" && event.action.type === "success" && isOurs(key) && !this.#isWriting) {
        const before = this.#covered.get(queryHash);
        this.#show(key, queryHash, hasPages(key) ? withoutChanges(state.data as Pages, before) : state.data);
      }
    });
  }

  /** Shows the changes in all cached results. */
  show(): void {
    for (const { queryKey: key, queryHash, state } of this.#queries.getQueryCache().getAll()) {
      if (!isOurs(key) || state.data === undefined) continue;
      const covered = this.#covered.get(queryHash);
      this.#show(key, queryHash, covered ? covered.base : state.data);
    }
  }

  settle(change: OptimisticChange, hasSucceeded: boolean): void {
    this.#changes.delete(change);
    if (hasSucceeded) {
      for (const [hash, covered] of this.#covered) {
        const key = this.#queries.getQueryCache().get(hash)?.queryKey;
        if (key) covered.base = change.apply(key, covered.base);
      }
    } else this.show();
    if (this.#changes.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#covered.clear();
  }

  #show(key: Key, hash: string, base: unknown): void {
    const shown = [...this.#changes].reduce((data, change) => change.apply(key, data), base);
    const query = this.#queries.getQueryCache().get(hash);
    if (!query || (shown === base && query.state.data === base)) return;
    this.#isWriting = true;
    try {
      this.#queries.setQueryData(key, shown, { updatedAt: query.state.dataUpdatedAt });
    } finally {
      this.#isWriting = false;
    }
    this.#covered.set(hash, { base, shown: query.state.data });
  }
}

/** @returns the result with the change, of an infinite list each page */
function changed(key: Key, data: unknown, change: (data: never, page: number) => unknown): unknown {
  if (!hasPages(key)) return change(data as never, 0);
  const { pages, ...rest } = data as InfiniteData<never>;
  return { ...rest, pages: pages.map((page, at) => change(page, at)) };
}

const isOurs = (key: Key) => key[0] === "svc";

type Pages = InfiniteData<unknown>;

/** Of pages, those that were shown with changes stay in the cache when the next page comes. */
function withoutChanges(data: Pages, before: Covered | undefined): Pages {
  if (!before) return data;
  const [base, shown] = [before.base as Pages, before.shown as Pages];
  return { ...data, pages: data.pages.map((page, at) => (page === shown.pages[at] ? base.pages[at] : page)) };
}

const layers = new WeakMap<QueryClient, Layers>();

function layersOf(queries: QueryClient): Layers {
  const known = layers.get(queries) ?? new Layers(queries);
  layers.set(queries, known);
  return known;
}
