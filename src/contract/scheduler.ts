/** `ctx.scheduler` as handlers see it. `src/jobs/context.ts` implements it. */

/** The `scheduler` of a context. Jobs run as whoever scheduled them, unless the procedure declares `.runAs("system")`. */
export interface ContextScheduler {
  /**
   * Runs an internal procedure after a delay.
   *
   * @param delayMs in milliseconds, counted from this call; at most ten years. 0 runs it as soon as the call has committed
   * @param args plain JSON without secrets, at most 64 KiB. (Default: no input)
   * @returns the job's id
   * @throws SvcError VALIDATION_FAILED for arguments that cannot be kept or that its `.input()` refuses, INTERNAL for a name
   *   that is no internal procedure's or a delay that is none, QUERY_WROTE in a query
   */
  runAfter(delayMs: number, name: string, args?: unknown): Promise<string>;
  /** Runs an internal procedure at a time; one in the past means now. @param at a Date, epoch milliseconds or ISO 8601 */
  runAt(at: Date | number | string, name: string, args?: unknown): Promise<string>;
  /**
   * Takes a job of the caller's out of the queue, if it has not begun.
   *
   * @returns false when there is no such job (any more), or it is somebody else's
   */
  cancel(id: string): Promise<boolean>;
}
