/**
 * Endpoints for the request's own session, in both styles: read it, end it, and get the keys that verify its JWTs.
 * Next hop: `../sessions/session-store.ts`.
 */
import type { Request, Response, Router } from "express";
import { SvcError } from "../../kit/svc-error.ts";
import { splitSession, withoutSession } from "../library-cookies.ts";
import { credentialIn, requirePageOfOurs } from "../sessions/authenticate.ts";
import { type AuthParts, bearerSessionToken, on, publicUser } from "./endpoint.ts";

export function currentSession(router: Router, parts: AuthParts): void {
  const { cookie, library, schemes, sessions, sessionTokens } = parts;

  /** The different values of the session cookie. A credential in the Authorization header takes precedence. */
  const cookiesOf = ({ headers }: Request) =>
    credentialIn(headers.authorization, schemes) === null ? cookie.all(headers.cookie) : [];

  /** The session of a cookie. If it was extended or has ended, the browser's cookie is updated. */
  const byCookie = async (signed: string, response: Response) => {
    const token = sessionTokens.open(signed);
    const session = token === null ? null : await sessions.find(token);
    const live = token !== null && session !== null;
    response.setHeader("set-cookie", live ? cookie.set(sessionTokens.sign(token), session.expiresAt) : cookie.clear());
    return session;
  };

  /** The other accounts of this browser: by the plugin's hook, which ends their sessions and removes their cookies. */
  const signOutOthers = async (request: Request, response: Response) => {
    const headers = new Headers({ cookie: withoutSession(request.headers.cookie) });
    const { headers: set } = await library.api.signOut({ headers, returnHeaders: true });
    for (const line of splitSession(set.getSetCookie(), cookie.name).others) response.appendHeader("set-cookie", line);
  };

  on(router, "get", "/me", async (request, response) => {
    const [signed, ...others] = cookiesOf(request);
    // Clears neither cookie: only ours would go, and the neighbouring host's would sign the user in as somebody else.
    if (others.length > 0) throw twoCookies();
    if (signed !== undefined) requirePageOfOurs(parts.origins, request.headers.origin, "read");
    const session =
      signed !== undefined ? await byCookie(signed, response) : await parts.authenticate(request.headers, "read");
    if (!session) throw new SvcError("UNAUTHORIZED");
    return { user: publicUser(session.user) };
  });

  on(router, "post", "/sign-out", async (request, response) => {
    const cookies = cookiesOf(request);
    if (cookies.length > 0) {
      requirePageOfOurs(parts.origins, request.headers.origin, "write");
      response.setHeader("set-cookie", cookie.clear());
    }
    if (cookies.length > 0 && library.context.hasPlugin("multi-session")) await signOutOthers(request, response);
    for (const signed of cookies.length > 0 ? cookies : [bearerSessionToken(parts, request) ?? ""]) {
      const token = sessionTokens.open(signed);
      if (token !== null) await sessions.end(token);
    }
    return { success: true };
  });

  on(router, "get", "/jwks", () => parts.jwts.publicKeySet());
}

const twoCookies = () =>
  new SvcError("UNAUTHORIZED", "The request has two different session cookies; one of them is not from this service.", {
    hint: "Remove the cookies of this site and sign in again. Another host of the same domain has set one of them.",
  });
