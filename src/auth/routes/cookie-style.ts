/**
 * Cookie style: the browser holds the session cookie, which scripts cannot read. Answers contain no token.
 * Next hop: `../passwords/credentials.ts` for passwords, `../sessions/session-cookie.ts` for the cookie.
 */
import type { Request, Router } from "express";
import { withoutSession } from "../library-cookies.ts";
import { requirePageOfOurs } from "../sessions/authenticate.ts";
import { type AuthParts, about, jsonBody, on, publicUser, requirePasswords, setSession } from "./endpoint.ts";

export function cookieStyle(router: Router, parts: AuthParts): void {
  const { credentials } = parts;

  for (const act of ["signUp", "signIn"] as const) {
    on(router, "post", paths[act], async (request, response) => {
      const { origin } = request.headers;
      requirePageOfOurs(parts.origins, origin, "write");
      requirePasswords(credentials.enabled);
      const body = await jsonBody(request);
      const { opened, challenge, cookies } = await credentials[act](body, withCookies(request), origin);
      if (opened) setSession(parts, response, opened);
      for (const line of cookies) response.appendHeader("set-cookie", line);
      return opened ? { user: publicUser(opened.session.user) } : challenge;
    });
  }
}

const paths = { signUp: "/sign-up/email", signIn: "/sign-in/email" };

/** The browser, with the cookies that the library and its plugins have set besides the session. */
function withCookies(request: Request): Headers {
  const headers = about(request);
  headers.set("cookie", withoutSession(request.headers.cookie));
  return headers;
}
