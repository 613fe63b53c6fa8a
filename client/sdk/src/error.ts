/** The one error class of the SDK: what the service refused, and what kept its answer from arriving. */

/** One thing wrong with an input: where, as a path of keys, and what. */
export interface Issue {
  path: (string | number)[];
  message: string;
}

/** Codes that the SDK gives by itself; the service's own are listed in its reference of errors. */
export type ClientErrorCode =
  /** No answer arrived: offline, refused, cut. */
  | "NETWORK_ERROR"
  /** No answer within the time that the call allows. With status 504 it was the service's own limit. */
  | "TIMEOUT"
  /** An answer arrived that is none of the service's: a proxy's page, or half of one. */
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
  /** The service lost its database while it saved a mutation: look whether it was carried out before sending it again. */
  | "OUTCOME_UNKNOWN"
  | "UNAVAILABLE"
  | (string & {});

export interface SvcErrorDetails {
  /** HTTP status; 0 when no answer arrived. (Default: 0) */
  status?: number;
  /** What a person can do about it. */
  hint?: string;
  /** What is wrong with which part of the input. */
  issues?: Issue[];
  /** The place of the failed call in a batch, from 0. */
  index?: number;
  /** Leads to the line in the service's log. */
  requestId?: string;
  /** In seconds: when trying again makes sense. */
  retryAfter?: number;
  cause?: unknown;
}

/**
 * What a failed call rejects with, except for calls that were aborted: those reject with the signal's reason.
 *
 * @example
 * try { await client.mutate(api.tasks.create, { title }); }
 * catch (error) { if (error instanceof SvcError && error.code === "VALIDATION_FAILED") show(error.issues); }
 */
export class SvcError extends Error {
  override readonly name = "SvcError";
  readonly code: SvcErrorCode;
  readonly status: number;
  readonly hint: string | undefined;
  readonly issues: Issue[];
  readonly index: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: SvcErrorCode, message: string, details: SvcErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status ?? 0;
    this.hint = details.hint;
    this.issues = details.issues ?? [];
    this.index = details.index;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
  }
}
