/** How the bridge answers: JSON that nobody keeps, and errors in the form of the service's own. */
import type { SvcError } from "../error.ts";
import type { BackendAnswer } from "./backend.ts";

/** @param cookie a `Set-Cookie` to go along */
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

/** Addresses of a sign-in are not to be sent to others as Referer. */
export function redirect(url: URL): Response {
  const headers = { location: url.href, "cache-control": "no-store", "referrer-policy": "no-referrer" };
  return new Response(null, { status: 302, headers });
}
