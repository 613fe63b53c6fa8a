/**
 * `useQuery` and `useSuspenseQuery`: a query's result, stored in TanStack Query's cache, which updates while it is mounted.
 * Next hop: `query-key.ts`.
 */
"use client";

import type {
  AggregateInput,
  AggregateOutput,
  AggregateQuery,
  ArgumentsOf,
  GroupBy,
  IncludeOf,
  InputOf,
  Measures,
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
  type UseQueryResult,
  type UseSuspenseQueryResult,
  useQueryClient,
  useQuery as useTanStackQuery,
  useSuspenseQuery as useTanStackSuspenseQuery,
} from "@tanstack/react-query";
import { useEffect } from "react";
import { useSvcClient } from "./client-context.ts";
import { fetcher } from "./fetcher.ts";
import { queryKey, type SvcQueryKey } from "./query-key.ts";
import { refusal } from "./refusal.ts";
import { useCaller } from "./use-auth.ts";

/** Instead of arguments: sends no request. */
export const skip: unique symbol = Symbol.for("svc.skip");

/** Options of TanStack Query. */
export interface UseQueryOptions<Output> {
  /** In milliseconds: how long a result counts as fresh. (Default: 0) */
  staleTime?: number | undefined;
  /** Shown until the first result arrives. */
  placeholderData?: Output | ((previous: Output | undefined) => Output | undefined) | undefined;
  /** In milliseconds: the interval of repeated fetches. (Default: never) */
  refetchInterval?: number | false | undefined;
}

type SuspenseOptions = Pick<UseQueryOptions<unknown>, "staleTime" | "refetchInterval">;

export type Arguments<Q extends Query, Input, Options> =
  undefined extends InputOf<Q> ? [args?: Input, options?: Options] : [args: Input, options?: Options];

/**
 * A query's result, fetched again when its data, the arguments or the user change.
 *
 * @param rest the arguments, or `skip`; then TanStack's options
 * @example
 * const { data, error, isPending } = useQuery(api.tasks.get, id === null ? skip : { id });
 */
export function useQuery<Q extends Query>(
  operation: Q & Plain<Q>,
  ...rest: Arguments<Q, ArgumentsOf<Q> | typeof skip, UseQueryOptions<OutputOf<Q>>>
): UseQueryResult<OutputOf<Q>>;
export function useQuery<
  R extends Resource,
  Input,
  Output,
  const I extends IncludeOf<R> = Record<never, never>,
  const S extends SelectOf<R> = SelectOf<R>,
>(
  operation: ResourceQuery<R, Input, Output> & OnlyKnown<R, I>,
  args: ResourceInput<R, Input, I, S> | typeof skip,
  options?: UseQueryOptions<ResourceOutput<R, Output, I, S>>,
): UseQueryResult<ResourceOutput<R, Output, I, S>>;
export function useQuery<
  R extends Resource,
  Input,
  Output,
  const M extends Measures<Input>,
  const G extends GroupBy<Input> = readonly [],
>(
  operation: AggregateQuery<R, Input, Output>,
  args: AggregateInput<R, Input, G, M> | typeof skip,
  options?: UseQueryOptions<AggregateOutput<Output, G, M>>,
): UseQueryResult<AggregateOutput<Output, G, M>>;
export function useQuery<Q extends Query>(
  operation: Q,
  ...rest: Arguments<Q, ArgumentsOf<Q> | typeof skip, UseQueryOptions<OutputOf<Q>>>
): UseQueryResult<OutputOf<Q>>;
export function useQuery(operation: Query, args?: unknown, options?: object): unknown {
  const parts = useParts(operation, args, args !== skip);
  return useTanStackQuery({ ...options, ...parts, enabled: args !== skip } as never);
}

/** The same for `<Suspense>`: suspends until there is a result, and throws errors to the boundary. */
export function useSuspenseQuery<Q extends Query>(
  operation: Q & Plain<Q>,
  ...rest: Arguments<Q, ArgumentsOf<Q>, SuspenseOptions>
): UseSuspenseQueryResult<OutputOf<Q>>;
export function useSuspenseQuery<
  R extends Resource,
  Input,
  Output,
  const I extends IncludeOf<R> = Record<never, never>,
  const S extends SelectOf<R> = SelectOf<R>,
>(
  operation: ResourceQuery<R, Input, Output> & OnlyKnown<R, I>,
  args: ResourceInput<R, Input, I, S>,
  options?: SuspenseOptions,
): UseSuspenseQueryResult<ResourceOutput<R, Output, I, S>>;
export function useSuspenseQuery<
  R extends Resource,
  Input,
  Output,
  const M extends Measures<Input>,
  const G extends GroupBy<Input> = readonly [],
>(
  operation: AggregateQuery<R, Input, Output>,
  args: AggregateInput<R, Input, G, M>,
  options?: SuspenseOptions,
): UseSuspenseQueryResult<AggregateOutput<Output, G, M>>;
export function useSuspenseQuery<Q extends Query>(
  operation: Q,
  ...rest: Arguments<Q, ArgumentsOf<Q>, SuspenseOptions>
): UseSuspenseQueryResult<OutputOf<Q>>;
export function useSuspenseQuery(operation: Query, args?: unknown, options?: object): unknown {
  return useTanStackSuspenseQuery({ ...options, ...useParts(operation, args, true) } as never);
}

function useParts(operation: Query, args: unknown, enabled: boolean) {
  const client = useSvcClient();
  const queries = useQueryClient();
  const user = useCaller();
  // Skipped, it shows nothing: the key without arguments may hold the result of another component.
  const key = queryKey(user, operation, enabled ? args : "skip");
  const name = JSON.stringify(key);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name says all of operation, arguments and user
  useEffect(() => {
    if (!enabled) return;
    const show = (result: unknown) => {
      // A result for a user who has just signed in does not belong to the previous user.
      if ((client.auth?.getState().user?.id ?? null) === user) queries.setQueryData(key, result);
    };
    return client.watch(operation, args as never, show, refusal(queries, key));
  }, [client, queries, name, enabled]);
  return {
    queryKey: key,
    queryFn: fetcher(client, operation, enabled ? args : undefined),
  } satisfies { queryKey: SvcQueryKey; queryFn: unknown };
}
