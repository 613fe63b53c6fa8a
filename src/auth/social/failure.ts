/**
 * Why a sign-in at the provider came to nothing: the words of the `error` parameter, and what the log may know.
 * Next hop: `docs/reference/authentication.md` explains every word.
 */
import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";

/** Words of our own. Nothing that a provider or an address bar says is repeated to the application. */
export type Failure =
  | "access_denied"
  | "account_not_linked"
  | "email_missing"
  | "email_not_verified"
  | "internal_error"
  | "provider_error"
  | "provider_unavailable"
  | "sign_up_refused"
  | "two_factor_required";

/** What to call an error that openid-client threw. */
export function failureOf(error: unknown): Failure {
  if (error instanceof AuthorizationResponseError) {
    if (error.error === "access_denied") return "access_denied";
    return error.error === "server_error" || error.error === "temporarily_unavailable"
      ? "provider_unavailable"
      : "provider_error";
  }
  return isOutage(error) ? "provider_unavailable" : "provider_error";
}

/** No answer, none in time, or one that says "not now". */
function isOutage(error: unknown): boolean {
  if (error instanceof ResponseBodyError) return error.status >= 500;
  if (error instanceof ClientError) {
    return error.code === "OAUTH_TIMEOUT" || (error.cause instanceof Response && error.cause.status >= 500);
  }
  return error instanceof TypeError && !("code" in error); // fetch failed
}

/**
 * What the log keeps. The errors carry whole answers, codes and tokens among them, as properties and causes: only
 * constants of the library and short codes are taken over.
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
