/**
 * The one error class. Whatever else is thrown becomes INTERNAL at the edge (src/http/errors.ts), its detail in the log.
 */
import { type ErrorCode, errorCodes } from "./error-codes.ts";

/** One thing wrong with an input: where, as a path of keys, and what. */
export interface Issue {
  path: (string | number)[];
  message: string;
}

export interface SvcErrorOptions {
  /** What a person can do about it. Sent to the caller. */
  hint?: string;
  /** What is wrong with which part of the input. Sent to the caller. */
  issues?: Issue[];
  /** After how many seconds a retry makes sense; sent as `Retry-After`. */
  retryAfter?: number;
  /** What led to it. Logged, never sent. */
  cause?: unknown;
}

/**
 * An error that the caller is meant to see.
 *
 * @example
 * throw new SvcError("FORBIDDEN", "Only the editor may publish.", { hint: "Ask an editor to do it." });
 */
export class SvcError extends Error {
  override readonly name = "SvcError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly issues: Issue[] | undefined;
  readonly retryAfter: number | undefined;

  /**
   * @param code    an entry of the table in `error-codes.ts`; it decides the HTTP status
   * @param message one sentence for a person (Default: the table's)
   */
  constructor(code: ErrorCode, message?: string, options: SvcErrorOptions = {}) {
    super(message ?? errorCodes[code].message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.issues = options.issues;
    this.retryAfter = options.retryAfter;
  }

  /** HTTP status, 400 to 599. */
  get status(): number {
    return errorCodes[this.code].status;
  }
}
