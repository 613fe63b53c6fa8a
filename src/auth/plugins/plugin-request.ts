/**
 * Builds the request that a plugin's endpoint gets. The library's only credential is its session cookie, so a session
 * token of either style is converted to it. Parts that the library might parse differently are removed.
 * Next hop: `src/auth/routes/plugins.ts` hands it to the library.
 */
import type { Request as HttpRequest } from "express";
import { mediaType } from "../../http/body.ts";
import { isJson } from "../../kit/media-type.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { withoutSession } from "../library-cookies.ts";
import { addressHeader } from "../library-types.ts";
import { type AuthParts, about } from "../routes/endpoint.ts";
import type { LiveSession } from "../sessions/session-store.ts";

/** A session token that we signed, or the wish for one. */
export interface Credential {
  style: "token" | "cookie";
  /** null without a session, and when it has ended: the token then does not identify the caller. */
  live: {
    /** Bare, without its signature. */
    token: string;
    session: LiveSession;
  } | null;
}

/** Headers of the connection, and headers that are set again below. */
const withheld =
  /^(?:cookie|connection|content-length|expect|host|keep-alive|te|transfer-encoding|upgrade|x-forwarded-.+)$/;

/** RFC 9110, section 8.3.1. */
const oneType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;

/**
 * @param further a cookie that the body stands for, or ""
 * @throws SvcError NOT_FOUND for a path that URL parsing changes; UNSUPPORTED_MEDIA_TYPE for a header that names no type of a
 *   body, or several, or only begins as JSON's
 */
export function innerRequest(
  parts: AuthParts,
  request: HttpRequest,
  credential: Credential | null,
  body: Buffer,
  further: string,
): Request {
  const { own } = parts.origins;
  const { method, originalUrl } = request;
  const url = new URL(own + originalUrl);
  // URL parsing resolves "..", backslashes and the like, so the path may differ from the one that was matched.
  if (url.origin !== own || url.pathname !== originalUrl.split("?", 1)[0]) throw new SvcError("NOT_FOUND");

  const type = mediaType(request);
  // The library looks for the names of types anywhere in the header, and takes "application/jsonx" for JSON. So it might read
  // another one than we do.
  if (type !== "" && (!oneType.test(type) || (/json/.test(type) && !isJson(type)))) {
    throw new SvcError("UNSUPPORTED_MEDIA_TYPE");
  }
  const headers = new Headers();
  for (const [name, value = ""] of Object.entries(request.headers)) {
    if (!withheld.test(name)) headers.set(name, [value].flat().join(", "));
  }
  // Its parameters say nothing about other bodies.
  if (type !== "" && type !== "multipart/form-data") headers.set("content-type", type);
  headers.delete(addressHeader);
  for (const [name, value] of about(request)) headers.set(name, value);
  if (credential?.style === "token") headers.delete("authorization");

  const cookies = [sessionCookie(parts, credential), further, withoutSession(request.headers.cookie)]
    .filter(Boolean)
    .join("; ");
  if (cookies) headers.set("cookie", cookies);
  // The library requires an origin with every cookie, and of Node's fetch. Requests that may lack one have already been checked.
  if (!headers.has("origin")) headers.set("origin", own);
  return new Request(url, { method, headers, ...(body.length > 0 && { body: new Uint8Array(body) }) });
}

/** Cookie of a live session, signed again: the library verifies only with the newest secret. */
const sessionCookie = ({ cookie, sessionTokens }: AuthParts, credential: Credential | null): string =>
  credential?.live ? `${cookie.name}=${encodeURIComponent(sessionTokens.sign(credential.live.token))}` : "";
