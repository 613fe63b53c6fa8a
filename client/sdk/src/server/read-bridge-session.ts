/**
 * Reads the signed-in user from the bridge's cookie, for code that renders a page. Does not call the backend.
 * Next hop: `sealed-session.ts`.
 */
import type { User } from "../auth/state.ts";
import { cookieNamed, headersOf } from "./cookie-header.ts";
import { unseal } from "./sealed-session.ts";
import { type BridgeSessionOptions, checkSession, nameOf, type SessionSettings } from "./session-settings.ts";

export interface BridgeSession {
  user: User;
  /** Valid for seven days as this user: only for calls from server to server, never send it to a page. */
  sessionToken: string;
}

/** A request in the forms of frameworks: a request, its headers (Next's `await headers()`), or the text of `Cookie`. */
export type IncomingRequest = Request | Headers | string | null | undefined;

/**
 * Opens the bridge's cookie.
 *
 * @param session as given to the bridge
 * @returns null without a cookie, and for a cookie that is altered, expired, too long, or sealed with another password
 * @throws TypeError for an invalid `session`; never because of the request
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

/** @param secure whether it is the cookie for https */
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
