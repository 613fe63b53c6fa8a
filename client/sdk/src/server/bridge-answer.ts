/** Responses of the bridge: uncached JSON, and errors in the same form as the service's. */
import type { SvcError } from "../error.ts";
import type { BackendAnswer } from "./backend.ts";

/** @param cookie a `Set-Cookie` to send with it */
export function answer(status: number, body: object, cookie?: string, retryAfter?: string | null): Response {
  const headers = new Headers({
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  if (cookie) headers.set("set-cookie", cookie);
  if (retryAfter) headers.set("retry-after", retryAfter);
  return new Response(JSON.stringify(body), { status, headers });
}

/** The backend's refusal, unchanged. */
export const handOn = ({ status, body, retryAfter }: BackendAnswer, cookie?: string) =>
  answer(status, body, cookie, retryAfter);

export const refusal = ({ status, message, code, hint }: SvcError, cookie?: string) =>
  answer(status, { error: message, code, ...(hint && { hint }) }, cookie);

/** URLs of a sign-in must not be sent to other sites as Referer. */
export function redirect(url: URL): Response {
  const headers = { location: url.href, "cache-control": "no-store", "referrer-policy": "no-referrer" };
  return new Response(null, { status: 302, headers });
}
