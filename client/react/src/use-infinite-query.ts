/**
 * `useInfiniteQuery`: the pages of a list by cursor, stored in TanStack Query's cache. After a change all pages shown are
 * fetched again, one after the other, since each begins where the one before ends.
 * Next hop: `query-key.ts`.
 */
"use client";

import type {
  ArgumentsOf,
  IncludeOf,
  OnlyKnown,
  OutputOf,
  Plain,
  Query,
  Resource,
  ResourceInput,
  ResourceOutput,
  ResourceQuery,
  SelectOf,
} from "@svc/client";
import {
  type InfiniteData,
  type QueryClient,
  type QueryFunctionContext,
  type QueryKey,
  type UseInfiniteQueryResult,
  useQueryClient,
  useInfiniteQuery as useTanStackInfiniteQuery,
} from "@tanstack/react-query";
import { useEffect } from "react";
import { type AnyClient, useSvcClient } from "./client-context.ts";
import { fetcher } from "./fetcher.ts";
import { infiniteQueryKey } from "./query-key.ts";
import { refusal } from "./refusal.ts";
import { useCaller } from "./use-auth.ts";
import { skip, type UseQueryOptions } from "./use-query.ts";

interface Page {
  nextCursor?: string | null | undefined;
}

/** A query that takes a cursor and answers with the next one. */
export type PagedQuery = Query<{ cursor?: string | null | undefined } | undefined, Page>;

type WithoutCursor<Input> = Omit<NonNullable<Input>, "cursor" | "page">;
type InfiniteOptions = Pick<UseQueryOptions<never>, "staleTime" | "refetchInterval">;
type InfiniteResult<Output> = UseInfiniteQueryResult<InfiniteData<Output, string | null>>;

/** First pages under way, by client: a watched result that comes meanwhile is theirs. */
const asked = new WeakMap<AnyClient, Set<string>>();

/**
 * The pages of a list, fetched again when its data, the arguments or the user change.
 *
 * @param args those of the list without `cursor`, or `skip`
 * @example
 * const { data, hasNextPage, fetchNextPage } = useInfiniteQuery(api.tasks.list, { limit: 50 });
 * const tasks = data?.pages.flatMap((page) => page.data);
 */
export function useInfiniteQuery<Q extends PagedQuery>(
  operation: Q & Plain<Q>,
  args?: WithoutCursor<ArgumentsOf<Q>> | typeof skip,
  options?: InfiniteOptions,
): InfiniteResult<OutputOf<Q>>;
export function useInfiniteQuery<
  R extends Resource,
  Input,
  Output extends Page,
  const I extends IncludeOf<R> = Record<never, never>,
  const S extends SelectOf<R> = SelectOf<R>,
>(
  operation: ResourceQuery<R, Input, Output> & OnlyKnown<R, I>,
  args: ResourceInput<R, WithoutCursor<Input>, I, S> | typeof skip,
  options?: InfiniteOptions,
): InfiniteResult<ResourceOutput<R, Output, I, S>>;
export function useInfiniteQuery<Q extends PagedQuery>(
  operation: Q,
  args?: WithoutCursor<ArgumentsOf<Q>> | typeof skip,
  options?: InfiniteOptions,
): InfiniteResult<OutputOf<Q>>;
export function useInfiniteQuery(operation: PagedQuery, args?: unknown, options?: InfiniteOptions): unknown {
  const client = useSvcClient();
  const queries = useQueryClient();
  const user = useCaller();
  const enabled = args !== skip;
  const pageAt = (cursor: string | null) => ({ ...(enabled && (args as object)), cursor });
  const key = infiniteQueryKey(user, operation, enabled ? pageAt(null) : "skip");
  const name = JSON.stringify(key);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name says all of operation, arguments and user
  useEffect(() => {
    if (!enabled) return;
    const refetch = refetcher(queries, key);
    // The first page hears of every change that the others hear of.
    const changed = () => {
      if (asked.get(client)?.has(name)) return;
      if ((client.auth?.getState().user?.id ?? null) !== user) return;
      void refetch();
    };
    return client.watch(operation, pageAt(null) as never, changed, refusal(queries, key));
  }, [client, queries, name, enabled]);
  return useTanStackInfiniteQuery({
    ...options,
    enabled,
    queryKey: key,
    initialPageParam: null,
    queryFn: (context: QueryFunctionContext<QueryKey, string | null>) =>
      context.pageParam === null
        ? firstPage(client, name, () => fetcher(client, operation, pageAt(null))(context))
        : client.query(operation, pageAt(context.pageParam) as never, { signal: context.signal }),
    getNextPageParam: (last: OutputOf<PagedQuery>) => last.nextCursor ?? null,
  } as never) as never;
}

/**
 * Fetches all pages again. In TanStack Query a refetch cancels the fetch of a next page, and the other way round. So a next
 * page that is under way is awaited first. If one is asked for during the refetch, all pages are fetched again after it.
 */
function refetcher(queries: QueryClient, queryKey: QueryKey): () => Promise<void> {
  let isChanged = false;
  let isRunning = false;
  const state = () => queries.getQueryState(queryKey);
  return async () => {
    isChanged = true;
    if (isRunning) return;
    isRunning = true;
    while (isChanged) {
      if (state()?.fetchStatus === "fetching" && state()?.fetchMeta?.fetchMore) {
        await queries
          .getQueryCache()
          .find({ queryKey })
          ?.promise?.catch(() => {});
        continue;
      }
      isChanged = false;
      const before = state()?.fetchMeta;
      await queries.invalidateQueries({ queryKey, exact: true });
      const after = state()?.fetchMeta;
      if (after?.fetchMore && after !== before) isChanged = true;
    }
    isRunning = false;
  };
}

async function firstPage(client: AnyClient, name: string, fetch: () => Promise<unknown>): Promise<unknown> {
  const names = asked.get(client) ?? new Set();
  asked.set(client, names.add(name));
  try {
    return await fetch();
  } finally {
    names.delete(name);
  }
}
