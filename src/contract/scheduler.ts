/** `ctx.scheduler` as handlers see it. `src/jobs/context.ts` implements it. */

/**
 * The `scheduler` of a context. Jobs run as the user who scheduled them, unless the procedure declares
 * `.runAs("system")`.
 */
export interface ContextScheduler {
  /**
   * Runs an internal procedure after a delay.
   *
   * @param delayMs in milliseconds, counted from this call; at most ten years. 0: as soon as the call has committed
   * @param args plain JSON without secrets, at most 64 KiB. (Default: no input)
   * @returns the job's id
   * @throws SvcError VALIDATION_FAILED for arguments that cannot be stored or that its `.input()` rejects, INTERNAL for
   *   a name that is not an internal procedure and for an invalid delay, QUERY_WROTE in a query
   */
  runAfter(delayMs: number, name: string, args?: unknown): Promise<string>;
  /**
   * Runs an internal procedure at a time; one in the past means now.
   *
   * @param at a Date, epoch milliseconds or ISO 8601. A text without an offset is in UTC
   * @throws SvcError INTERNAL for a date that does not exist, such as February 30, and for one after ten years
   */
  runAt(at: Date | number | string, name: string, args?: unknown): Promise<string>;
  /**
   * Removes a job of the caller from the queue, if it has not started.
   *
   * @returns false when the job does not exist (any more), or belongs to another user
   */
  cancel(id: string): Promise<boolean>;
}
