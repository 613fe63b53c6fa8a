/**
 * How a sign-in at the provider ends: with a one-time code (token mode) or the session cookie (cookie mode), and the
 * redirect that reports it.
 * Next hop: `../routes/social.ts`.
 */
import { SvcError } from "../../kit/svc-error.ts";
import type { Failure } from "./failure.ts";

export type ReturnMode = "token" | "cookie";

const known: readonly unknown[] = ["token", "cookie"] satisfies ReturnMode[];

/**
 * The mode of a sign-in.
 *
 * @param allowed    of the definition, not empty; the first is the default
 * @param preference requested by the client
 * @throws SvcError BAD_REQUEST for an unknown mode, FORBIDDEN for one that the definition does not allow
 */
export function chooseMode(allowed: readonly ReturnMode[], preference: string | undefined): ReturnMode {
  const mode = preference ?? allowed[0] ?? "token";
  if (!known.includes(mode)) {
    throw new SvcError("BAD_REQUEST", "This is not a return mode.", { hint: "oauthReturnMode is token or cookie." });
  }
  requireMode(allowed, mode as ReturnMode);
  return mode as ReturnMode;
}

/** @throws SvcError FORBIDDEN */
export function requireMode(allowed: readonly ReturnMode[], mode: ReturnMode): void {
  if (allowed.includes(mode)) return;
  throw new SvcError("FORBIDDEN", `Social sign-in in ${mode} mode is not allowed here.`, {
    hint: `Use ${allowed.join(" or ")} mode, or add "${mode}" to oauth.allowedReturnModes in auth.ts.`,
  });
}

/** The result that is added to the callback URL. */
export type Result = { code: string } | { oauth: "success" } | { error: Failure };

const ours = new Set(["code", "error", "oauth"]);

/**
 * The callback URL with a result. Other parameters stay unchanged, character by character; earlier results are removed.
 *
 * @param callbackURL absolute
 */
export function withResult(callbackURL: string, result: Result): URL {
  const url = new URL(callbackURL);
  const kept = url.search
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "" && ![...new URLSearchParams(pair).keys()].some((name) => ours.has(name)));
  url.search = [...kept, new URLSearchParams(result)].join("&");
  return url;
}
