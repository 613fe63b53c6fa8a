/** `fetcher`: how a query is fetched for TanStack Query's cache. */
import type { Query } from "@svc/client";
import type { QueryFunctionContext } from "@tanstack/react-query";
import type { AnyClient } from "./client-context.ts";

type Fetched = Pick<QueryFunctionContext, "client" | "queryKey" | "signal">;

/**
 * Shares the request that watchers of the query have under way. After a mutation that may be too old. When no component
 * shows the query any more, the request is aborted.
 */
export const fetcher =
  (client: AnyClient, operation: Query, args: unknown) =>
  (context?: Fetched): Promise<unknown> =>
    client["~svc"].refetch(
      operation,
      args,
      context && {
        signal: context.signal,
        afresh: context.client.getQueryState(context.queryKey)?.isInvalidated ?? false,
      },
    );
