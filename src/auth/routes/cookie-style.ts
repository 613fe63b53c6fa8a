/**
 * Cookie style: the browser holds the session cookie, which scripts cannot read. Answers contain no token.
 * Next hop: `../passwords/credentials.ts` for passwords, `../sessions/session-cookie.ts` for the cookie.
 */
import type { Request, Router } from "express";
import { withoutSession } from "../library-cookies.ts";
import {
  type AuthParts,
  about,
  jsonBody,
  on,
  publicUser,
  requireKnownOrigin,
  requirePasswords,
  setSession,
} from "./endpoint.ts";

export function cookieStyle(router: Router, parts: AuthParts): void {
  const { credentials } = parts;

  on(router, "post", "/sign-up/email", async (request, response) => {
    requireKnownOrigin(parts, request);
    requirePasswords(credentials.enabled);
    const body = await jsonBody(request);
    const { opened, cookies } = await credentials.signUp(body, withCookies(request), request.headers.origin);
    setSession(parts, response, opened);
    for (const line of cookies) response.appendHeader("set-cookie", line);
    return { user: publicUser(opened.session.user) };
  });

  on(router, "post", "/sign-in/email", async (request, response) => {
    requireKnownOrigin(parts, request);
    requirePasswords(credentials.enabled);
    const body = await jsonBody(request);
    const { opened, challenge, cookies } = await credentials.signIn(body, withCookies(request), request.headers.origin);
    if (opened) setSession(parts, response, opened);
    for (const line of cookies) response.appendHeader("set-cookie", line);
    return opened ? { user: publicUser(opened.session.user) } : challenge;
  });
}

/** The browser, with the cookies that the library and its plugins have set besides the session. */
function withCookies(request: Request): Headers {
  const headers = about(request);
  headers.set("cookie", withoutSession(request.headers.cookie));
  return headers;
}
