/** The only error class of the SDK: for refusals of the service, and for missing answers. */

/** One mistake in an input: its path of keys, and a message. */
export interface Issue {
  path: (string | number)[];
  message: string;
}

/** Codes of the SDK itself; docs/reference/errors.md lists those of the service. */
export type ClientErrorCode =
  /** No answer arrived: offline, refused or interrupted. */
  | "NETWORK_ERROR"
  /** No answer within the call's timeout. With status 504 it was the service's own timeout. */
  | "TIMEOUT"
  /** The answer is not from the service, or incomplete: a proxy's page, or half an answer. */
  | "INVALID_ANSWER";

/** Codes of the service, and of the SDK. Others may come from newer services. */
export type SvcErrorCode =
  | ClientErrorCode
  | "BAD_REQUEST"
  | "INVALID_JSON"
  | "VALIDATION_FAILED"
  | "UNAUTHORIZED"
  | "INVALID_CREDENTIALS"
  | "FORBIDDEN"
  | "EMAIL_NOT_VERIFIED"
  | "TWO_FACTOR_REQUIRED"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "REQUEST_TIMEOUT"
  /** A repeated call: it was saved, and its answer was too large to be kept. */
  | "ANSWER_NOT_KEPT"
  | "CONFLICT"
  | "EMAIL_TAKEN"
  | "PRECONDITION_FAILED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "RATE_LIMITED"
  | "CHECKSUM_MISMATCH"
  | "INTERNAL"
  | "OUTPUT_INVALID"
  | "QUERY_WROTE"
  /** The service lost its database while it saved a mutation: check whether it was saved before you send it again. */
  | "OUTCOME_UNKNOWN"
  | "UNAVAILABLE"
  | (string & {});

export interface SvcErrorDetails {
  /** HTTP status; 0 when no answer arrived. (Default: 0) */
  status?: number;
  /** What a person can do about it. */
  hint?: string;
  /** The invalid parts of the input. */
  issues?: Issue[];
  /** The place of the failed call in a batch, from 0. */
  index?: number;
  /** Finds the line in the service's log. */
  requestId?: string;
  /** In seconds: when to retry. */
  retryAfter?: number;
  cause?: unknown;
}

/**
 * Failed calls reject with this error. Aborted calls reject with the signal's reason instead.
 *
 * @example
 * try { await client.mutate(api.tasks.create, { title }); }
 * catch (error) { if (error instanceof SvcError && error.code === "VALIDATION_FAILED") show(error.issues); }
 */
export class SvcError extends Error {
  override readonly name = "SvcError";
  declare readonly code: SvcErrorCode;
  declare readonly status: number;
  declare readonly hint: string | undefined;
  declare readonly issues: Issue[];
  declare readonly index: number | undefined;
  declare readonly requestId: string | undefined;
  declare readonly retryAfter: number | undefined;

  constructor(code: SvcErrorCode, message: string, details: SvcErrorDetails = {}) {
    const { status = 0, hint, issues = [], index, requestId, retryAfter, cause } = details;
    super(message, { cause });
    // Terminals print the stack, and of an issue's path only [Array].
    const head = [`: ${message}`, ...issues.slice(0, 5).map(described)].join("\n  ");
    if (issues.length > 0 && this.stack) this.stack = this.stack.replace(`: ${message}`, () => head);
    Object.assign(this, { code, status, hint, issues, index, requestId, retryAfter });
  }
}

/** Issues may come from another server, in a form of its own. */
function described(issue: unknown): string {
  const { path, message } = Object(issue) as { path?: unknown; message?: unknown };
  const place = Array.isArray(path) && path.length > 0 ? [path.join(".")] : [];
  return [...place, String(message)].join(": ").slice(0, 500);
}
