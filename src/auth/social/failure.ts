/**
 * Reasons why a sign-in at the provider failed: the values of the `error` parameter, and the details that may be logged.
 * Next hop: `docs/reference/authentication.md` explains every word.
 */
import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";

/** Our own codes. Text from the provider or the query is never passed to the application. */
export type Failure =
  | "access_denied"
  | "account_not_linked"
  | "email_missing"
  | "email_not_verified"
  | "internal_error"
  | "provider_error"
  | "provider_unavailable"
  | "rate_limited"
  | "sign_up_refused"
  | "two_factor_required";

/** The second one is Apple's. */
const declined: ReadonlySet<string> = new Set(["access_denied", "user_cancelled_authorize"]);

/** The code for an error of openid-client. */
export function failureOf(error: unknown): Failure {
  if (error instanceof AuthorizationResponseError) {
    if (declined.has(error.error)) return "access_denied";
    return error.error === "server_error" || error.error === "temporarily_unavailable"
      ? "provider_unavailable"
      : "provider_error";
  }
  return isOutage(error) ? "provider_unavailable" : "provider_error";
}

/** No answer, a timeout, or an answer that means "not now". */
function isOutage(error: unknown): boolean {
  if (error instanceof ResponseBodyError) return error.status >= 500;
  if (error instanceof ClientError && error.code === "OAUTH_TIMEOUT") return true;
  if (error instanceof Error && error.cause instanceof Response) return error.cause.status >= 500;
  return error instanceof TypeError && !("code" in error); // fetch failed
}

/**
 * Details for the log. The errors hold whole answers with codes and tokens as properties and causes, so only the
 * library's constants and short codes are copied.
 */
export function describeFailure(error: unknown): object {
  if (!(error instanceof Error)) return {};
  const { code, error: answered } = error as { code?: unknown; error?: unknown };
  const { status } = (error.cause instanceof Response ? error.cause : error) as { status?: unknown };
  return {
    message: error.message,
    ...(error.cause instanceof Error && { because: error.cause.message }),
    ...(typeof code === "string" && { code }),
    ...(typeof status === "number" && { status }),
    ...(typeof answered === "string" && /^[a-z_]{1,40}$/.test(answered) && { answered }),
  };
}
