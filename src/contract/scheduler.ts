/** `ctx.scheduler` as handlers see it. `src/jobs/context.ts` implements it. */

/** An internal procedure, as far as its types decide what can be scheduled. */
export interface ScheduledProcedure<Input = unknown> {
  readonly "~svc": {
    readonly procedure: { readonly name: string };
    readonly types?: { kind: "internal"; input: Input };
  };
}

/** The arguments that a procedure's `.input()` takes: none without it. Of a name the compiler knows nothing. */
type ArgumentsOf<Input> = undefined extends Input ? [args?: Input] : [args: Input];

/** The `scheduler` of a context. Jobs run as the user who scheduled them, unless the procedure declares `.runAs("system")`. */
export interface ContextScheduler {
  /**
   * Runs an internal procedure after a delay.
   *
   * @param delayMs in milliseconds, counted from this call; at most ten years. 0: as soon as the call has committed
   * @param procedure the procedure or its name; with the name, the compiler does not check `args`
   * @param args plain JSON without secrets, at most 64 KiB. (Default: no input)
   * @returns the job's id
   * @throws SvcError VALIDATION_FAILED for arguments that cannot be stored or that its `.input()` rejects, INTERNAL for
   *   what is not an internal procedure of `defineApi` and for an invalid delay, QUERY_WROTE in a query
   */
  runAfter<Input = unknown>(
    delayMs: number,
    procedure: string | ScheduledProcedure<Input>,
    ...args: ArgumentsOf<NoInfer<Input>>
  ): Promise<string>;
  /**
   * Runs an internal procedure at a time; one in the past means now.
   *
   * @param at a Date, epoch milliseconds or ISO 8601. A text without an offset is in UTC
   * @throws SvcError INTERNAL for a date that does not exist, such as February 30, and for one after ten years
   */
  runAt<Input = unknown>(
    at: Date | number | string,
    procedure: string | ScheduledProcedure<Input>,
    ...args: ArgumentsOf<NoInfer<Input>>
  ): Promise<string>;
  /**
   * Removes a job of the caller from the queue, if it has not started.
   *
   * @returns false when the job does not exist (any more), or belongs to another user
   */
  cancel(id: string): Promise<boolean>;
}
