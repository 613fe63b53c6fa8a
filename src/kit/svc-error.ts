/**
 * The only error class for callers. Any other thrown value becomes INTERNAL in the answer (src/http/errors.ts); its
 * details are logged.
 */
import { type ErrorCode, errorCodes } from "./error-codes.ts";

/** One problem of an input: its path of keys, and a message. */
export interface Issue {
  path: (string | number)[];
  message: string;
}

/** Of an answer: a small input can have hundreds of thousands, each larger than what it is about. */
export const mostIssues = 100;

export interface SvcErrorOptions {
  /** How a person can fix it. Sent to the caller. */
  hint?: string;
  /** The problems of the input, by part. The first hundred are sent to the caller. */
  issues?: Issue[];
  /** Seconds after which a retry makes sense; sent as `Retry-After`. */
  retryAfter?: number;
  /** The place of the failed call in a batch, from 0. Sent to the caller. */
  index?: number;
  /** Of ANSWER_NOT_KEPT: what is kept of each answer, encoded; null: nothing. Sent to the caller. */
  answers?: unknown[];
  /** The original error. Logged, never sent. */
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
  readonly index: number | undefined;
  readonly answers: unknown[] | undefined;

  /**
   * @param code    an entry of the table in `error-codes.ts`; it decides the HTTP status
   * @param message one sentence for a person (Default: the table's)
   * @throws TypeError for another code: without a status no answer could be sent
   */
  constructor(code: ErrorCode, message?: string, options: SvcErrorOptions = {}) {
    if (!Object.hasOwn(errorCodes, code)) {
      const known = `The codes are ${Object.keys(errorCodes).join(", ")}.`;
      throw new TypeError(`SvcError has no code ${JSON.stringify(code)}. ${known}`, { cause: options.cause });
    }
    super(message ?? errorCodes[code].message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.issues = options.issues?.slice(0, mostIssues);
    this.retryAfter = options.retryAfter;
    this.index = options.index;
    this.answers = options.answers;
  }

  /** HTTP status, 400 to 599. */
  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** The same error, with the place of its call in a batch. */
export function atIndex(index: number, error: SvcError): SvcError {
  const { code, message, hint, issues, retryAfter, cause } = error;
  return new SvcError(code, message, { hint, issues, retryAfter, cause: cause ?? error, index });
}
