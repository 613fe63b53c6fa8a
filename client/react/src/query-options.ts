/** `queryOptions`: a query for TanStack Query's own functions, such as `prefetchQuery` in the loader of a router. */
import type { InputOf, OutputOf, Query } from "@svc/client";
import type { AnyClient } from "./client-context.ts";
import { queryKey, type SvcQueryKey } from "./query-key.ts";

/**
 * The key under which `useQuery` keeps the result for the user who is signed in now, and how it is fetched.
 *
 * @example
 * await queryClient.prefetchQuery(queryOptions(client, api.tasks.list, { limit: 50 }));
 */
export function queryOptions<Q extends Query>(
  client: AnyClient,
  operation: Q,
  ...[args]: undefined extends InputOf<Q> ? [args?: InputOf<Q>] : [args: InputOf<Q>]
): { queryKey: SvcQueryKey; queryFn: () => Promise<OutputOf<Q>> } {
  return {
    queryKey: queryKey(client.auth?.getState().user?.id ?? null, operation, args),
    queryFn: () => client["~svc"].refetch(operation, args) as Promise<OutputOf<Q>>,
  };
}
