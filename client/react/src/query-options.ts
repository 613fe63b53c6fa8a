/** `queryOptions`: a query for TanStack Query's own functions, such as `prefetchQuery` in the loader of a router. */
import type {
  AggregateInput,
  AggregateOutput,
  AggregateQuery,
  ArgumentsOf,
  GroupBy,
  IncludeOf,
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
import type { AnyClient } from "./client-context.ts";
import { fetcher } from "./fetcher.ts";
import { queryKey, type SvcQueryKey } from "./query-key.ts";
import type { Arguments } from "./use-query.ts";

interface Options<Output> {
  queryKey: SvcQueryKey;
  queryFn: () => Promise<Output>;
}

/**
 * The key under which `useQuery` keeps the result for the user who is signed in now, and how it is fetched.
 *
 * @example
 * await queryClient.prefetchQuery(queryOptions(client, api.tasks.list, { limit: 50 }));
 */
export function queryOptions<Q extends Query>(
  client: AnyClient,
  operation: Q & Plain<Q>,
  ...rest: Arguments<Q, ArgumentsOf<Q>, never>
): Options<OutputOf<Q>>;
export function queryOptions<
  R extends Resource,
  Input,
  Output,
  const I extends IncludeOf<R> = Record<never, never>,
  const S extends SelectOf<R> = SelectOf<R>,
>(
  client: AnyClient,
  operation: ResourceQuery<R, Input, Output> & OnlyKnown<R, I>,
  args: ResourceInput<R, Input, I, S>,
): Options<ResourceOutput<R, Output, I, S>>;
export function queryOptions<
  R extends Resource,
  Input,
  Output,
  const M extends Measures<Input>,
  const G extends GroupBy<Input> = readonly [],
>(
  client: AnyClient,
  operation: AggregateQuery<R, Input, Output>,
  args: AggregateInput<R, Input, G, M>,
): Options<AggregateOutput<Output, G, M>>;
export function queryOptions<Q extends Query>(
  client: AnyClient,
  operation: Q,
  ...rest: Arguments<Q, ArgumentsOf<Q>, never>
): Options<OutputOf<Q>>;
export function queryOptions(client: AnyClient, operation: Query, args?: unknown): Options<unknown> {
  return {
    queryKey: queryKey(client.auth?.getState().user?.id ?? null, operation, args),
    queryFn: fetcher(client, operation, args),
  };
}
