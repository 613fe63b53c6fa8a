/**
 * What better-auth and the application refuse, as errors of the service.
 * Next hop: `library-pool.ts` makes refusals of the database errors of the library.
 */
import { isAPIError } from "better-auth/api";
import type { ErrorCode } from "../kit/error-codes.ts";
import { SvcError } from "../kit/svc-error.ts";
import { refusalIn } from "../postgres/errors.ts";

/** By the status of the library's error. */
export const statusErrors: Record<number, ErrorCode> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "CONFLICT",
  422: "BAD_REQUEST",
  429: "RATE_LIMITED",
};

/** A refusal by a trigger or hook of the application, or by a plugin, whose text is written for the caller; other errors unchanged. */
export function refusalOf(error: unknown): unknown {
  const told = refusalIn(error);
  if (told instanceof SvcError) return told;
  if (isAPIError(error) && error.cause instanceof SvcError) return error.cause; // of library-pool.ts
  const code = isAPIError(error) && statusErrors[error.statusCode];
  return code ? new SvcError(code, error.message || undefined, { cause: error }) : error;
}

/** The library returns nothing when a hook of the application prevents a write. */
export const refused = () => new SvcError("FORBIDDEN", "The application does not allow this.");
