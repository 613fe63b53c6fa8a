/** `refusal`: shows that a query is refused after a change, for example because its row was deleted. */
import { SvcError } from "@svc/client";
import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** @returns what a watcher does with an error. A lost network or a busy service is no refusal: the data stays. */
export const refusal = (queries: QueryClient, queryKey: QueryKey) => (error: unknown) => {
  const { status } = error instanceof SvcError ? error : { status: 0 };
  if (status < 400 || status >= 500 || status === 429) return;
  const query = queries.getQueryCache().find({ queryKey, exact: true });
  // A fetch that is under way reports its error itself.
  if (query?.state.fetchStatus !== "idle") return;
  query.setState({ status: "error", error: error as Error, errorUpdatedAt: Date.now() });
};
