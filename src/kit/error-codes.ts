/**
 * Every error code that leaves the service, with its HTTP status and default message. `docs/reference/errors.md` lists
 * the same table; `tests/structure/errors.test.ts` keeps the table, the page and the SQLSTATEs that map to these codes
 * (src/postgres/errors.ts) equal.
 */
export const errorCodes = {
  BAD_REQUEST: { status: 400, message: "The request is malformed." },
  INVALID_JSON: { status: 400, message: "Invalid JSON body" },
  VALIDATION_FAILED: { status: 400, message: "The input does not match what this operation takes." },
  CREDIT_LIMIT_EXCEEDED: { status: 402, message: "This costs more credits than are allowed." },
  UNAUTHORIZED: { status: 401, message: "Sign in to do this." },
  INVALID_CREDENTIALS: { status: 401, message: "Invalid credentials" },
  DOCUMENT_PAID_FALLBACK_REQUIRED: { status: 402, message: "No local provider could convert this document." },
  DOCUMENT_COST_ABOVE_CAP: { status: 402, message: "Converting this document would cost more than its cap." },
  EMAIL_NOT_VERIFIED: { status: 403, message: "Verify your e-mail address: open the link in the mail, then sign in." },
  TWO_FACTOR_REQUIRED: { status: 403, message: "A second factor is needed to sign in." },
  FORBIDDEN: { status: 403, message: "You may not do this." },
  PLAN_REQUIRED: { status: 403, message: "The plan of this service does not include this." },
  GRANT_REQUIRED: { status: 403, message: "Watching this list requires a grant." },
  NOT_FOUND: { status: 404, message: "There is nothing here." },
  METHOD_NOT_ALLOWED: { status: 405, message: "This path does not answer that method." },
  REQUEST_TIMEOUT: { status: 408, message: "The request's body arrives too slowly." },
  ANSWER_NOT_KEPT: { status: 409, message: "This call has been saved, and its answer was too large to be kept." },
  CONFLICT: { status: 409, message: "Someone else changed this at the same time. Try again." },
  EMAIL_TAKEN: { status: 409, message: "Email already registered" },
  PRECONDITION_FAILED: { status: 412, message: "A precondition of the request failed." },
  PAYLOAD_TOO_LARGE: { status: 413, message: "The request is larger than this service accepts." },
  STORAGE_QUOTA_EXCEEDED: { status: 413, message: "The storage quota is exceeded." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: "This operation does not take that content type." },
  DOCUMENT_UNREADABLE: { status: 422, message: "The document is damaged." },
  DOCUMENT_ENCRYPTED: { status: 422, message: "The document is protected with a password." },
  RATE_LIMITED: { status: 429, message: "Too many requests. Try again later." },
  CHECKSUM_MISMATCH: { status: 460, message: "The checksum of the received bytes does not match." },
  INTERNAL: { status: 500, message: "Something went wrong on our side." },
  ANONYMOUS_BLOCKED: { status: 500, message: "Something went wrong on our side." },
  OUTPUT_INVALID: { status: 500, message: "Something went wrong on our side." },
  QUERY_WROTE: { status: 500, message: "This operation is read-only, but it tried to write." },
  MIDDLEWARE_REENTERED: { status: 500, message: "Something went wrong on our side." },
  // 500 and not 503: proxies and clients retry a 503 automatically, and this error must not be retried.
  OUTCOME_UNKNOWN: {
    status: 500,
    message: "The database connection was lost during the commit. The change may have been saved.",
  },
  AI_NOT_CONFIGURED: { status: 501, message: "No AI provider is configured for this." },
  NOT_INSTALLED: { status: 501, message: "This service is installed without a package that this needs." },
  PROVIDER_FAILED: { status: 502, message: "The AI provider failed or sent an invalid answer." },
  UNAVAILABLE: { status: 503, message: "The service is busy or starting. Try again shortly." },
  TIMEOUT: { status: 504, message: "The operation took longer than this service allows." },
} as const satisfies Record<string, { status: number; message: string }>;

/** A code of the table above, as sent in the `code` member of an error body. */
export type ErrorCode = keyof typeof errorCodes;
