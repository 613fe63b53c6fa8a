/** `ctx.realtime` as handlers see it. `src/realtime/context.ts` implements it. */

/**
 * The `realtime` of a context. Keys are `tasks.openCount`, or with arguments `tasks.get::{"id":7}`; whatever else a key
 * names is an INTERNAL error.
 */
export interface ContextRealtime {
  /** Subscribers ask again, each under their own identity. @throws SvcError QUERY_WROTE in a query */
  invalidate(queryKey: string, args?: object): void;
  /**
   * Runs a query that anyone may call and sends everybody its result; of another query subscribers ask again, as do those
   * who watch it with other arguments when none are given.
   *
   * @throws SvcError QUERY_WROTE in a query
   */
  refresh(queryKey: string, args?: object): void;
  /**
   * Sends data to the subscribers of a query that anyone may call, or to those of a scoped list, each of whom got a grant
   * for these arguments. At most 64 KiB.
   *
   * @throws SvcError QUERY_WROTE in a query, INTERNAL for another query that needs a session: its subscribers differ in
   *   what they may see
   */
  emit(queryKey: string, data: unknown): void;
}
