/**
 * A request as a plugin's endpoint gets it. The library knows one credential, its session cookie: the session token that
 * came, in either style, is made that cookie. What the library could read in another way than this service is left out.
 * Next hop: `src/auth/routes/plugins.ts` hands it to the library.
 */
import type { Request as HttpRequest } from "express";
import { SvcError } from "../../kit/svc-error.ts";
import { withoutSession } from "../library-cookies.ts";
import { addressHeader } from "../library-types.ts";
import { type AuthParts, about } from "../routes/endpoint.ts";
import type { Credential } from "./credential.ts";

export const isReading = (method: string): boolean => method === "GET" || method === "HEAD";

/** About the connection, or said again below in our words. */
const withheld =
  /^(?:cookie|connection|content-length|expect|host|keep-alive|te|transfer-encoding|upgrade|x-forwarded-.+)$/;

/** @throws SvcError NOT_FOUND for a path that a URL resolves to another one */
export function innerRequest(
  parts: AuthParts,
  request: HttpRequest,
  credential: Credential | null,
  body: Buffer,
): Request {
  const { own } = parts.origins;
  const { method, originalUrl } = request;
  const url = new URL(own + originalUrl);
  // A URL resolves "..", backslashes and the like: what is left may be another path than the one that was matched.
  if (url.origin !== own || url.pathname !== originalUrl.split("?", 1)[0]) throw new SvcError("NOT_FOUND");

  const headers = new Headers();
  for (const [name, value = ""] of Object.entries(request.headers)) {
    if (!withheld.test(name)) headers.set(name, [value].flat().join(", "));
  }
  headers.delete(addressHeader);
  for (const [name, value] of about(request)) headers.set(name, value);
  if (credential?.style === "token") headers.delete("authorization");

  const cookies = [sessionCookie(parts, credential), withoutSession(request.headers.cookie)].filter(Boolean).join("; ");
  if (cookies) headers.set("cookie", cookies);
  // The library wants an origin wherever it sees a cookie. Requests that may come without one have been let through.
  if (cookies && !headers.has("origin")) headers.set("origin", own);
  return new Request(url, { method, headers, ...(body.length > 0 && { body: new Uint8Array(body) }) });
}

/** Of a session that lives. Signed anew: the library verifies with the newest secret alone. */
const sessionCookie = ({ cookie, sessionTokens }: AuthParts, credential: Credential | null): string =>
  credential?.live ? `${cookie.name}=${encodeURIComponent(sessionTokens.sign(credential.live.token))}` : "";
