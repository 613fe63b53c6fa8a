/**
 * Who is signed in, for code that renders a page: the bridge's cookie, opened. The backend is not asked.
 * Next hop: `sealed-session.ts`.
 */
import type { User } from "../auth/state.ts";
import { cookieNamed } from "./cookie-header.ts";
import { unseal } from "./sealed-session.ts";
import { type BridgeSessionOptions, checkSession, nameOf, type SessionSettings } from "./session-settings.ts";

export interface BridgeSession {
  user: User;
  /** Seven days' worth of being this user: for calls from server to server, never for a page. */
  sessionToken: string;
}

/** What frameworks hand out: a request, its headers (Next's `await headers()`), or the text of `Cookie`. */
export type IncomingRequest = Request | Headers | string | null | undefined;

/**
 * Opens the bridge's cookie.
 *
 * @param session as given to the bridge
 * @returns null without a cookie, and for one that is tampered with, expired, too long, or sealed by somebody else
 * @throws TypeError when `session` is wrong; never because of the request
 * @example
 * const session = await readBridgeSession(await headers(), { password: process.env.BRIDGE_PASSWORD });
 */
export async function readBridgeSession(
  request: IncomingRequest,
  session: BridgeSessionOptions,
): Promise<BridgeSession | null> {
  const settings = checkSession(session);
  const names = settings.secure === undefined ? [true, false] : [settings.secure];
  for (const secure of names) {
    const found = await openCookie(cookieHeader(request), settings, secure);
    if (found) return found;
  }
  return null;
}

/** @param secure whether it is the cookie of https */
export async function openCookie(
  header: string | null,
  settings: SessionSettings,
  secure: boolean,
): Promise<BridgeSession | null> {
  const name = nameOf(settings, secure);
  const value = cookieNamed(header, name);
  return value === null ? null : unseal(value, name, settings.passwords);
}

function cookieHeader(request: IncomingRequest): string | null {
  if (request === null || request === undefined || typeof request === "string") return request ?? null;
  return headersOf(request).get("cookie");
}

export const headersOf = (request: Request | Headers): Headers => ("headers" in request ? request.headers : request);
