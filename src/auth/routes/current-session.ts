/**
 * The session that a request carries, in either style: who it is, its end, and the keys that verify its JWTs.
 * Next hop: `../session-store.ts`.
 */
import type { Request, Response, Router } from "express";
import { SvcError } from "../../errors/svc-error.ts";
import { bearer } from "../authenticate.ts";
import { type AuthParts, bearerSessionToken, on, publicUser, requireKnownOrigin } from "./endpoint.ts";

export function currentSession(router: Router, parts: AuthParts): void {
  const { cookie, sessions, sessionTokens } = parts;

  /** The cookie's value; a credential in the Authorization header goes first. */
  const cookieOf = ({ headers }: Request) =>
    bearer(headers.authorization) === null ? cookie.read(headers.cookie) : null;

  /** The session of a cookie. It may just have been given more time, or be over: the browser's copy follows. */
  const byCookie = async (signed: string, response: Response) => {
    const token = sessionTokens.open(signed);
    const session = token === null ? null : await sessions.find(token);
    const live = token !== null && session !== null;
    response.setHeader("set-cookie", live ? cookie.set(sessionTokens.sign(token), session.expiresAt) : cookie.clear());
    return session;
  };

  on(router, "get", "/me", async (request, response) => {
    const signed = cookieOf(request);
    const session = signed ? await byCookie(signed, response) : await parts.authenticate(request.headers, "read");
    if (!session) throw new SvcError("UNAUTHORIZED");
    return { user: publicUser(session.user) };
  });

  on(router, "post", "/sign-out", async (request, response) => {
    const signed = cookieOf(request);
    if (signed) {
      requireKnownOrigin(parts, request);
      response.setHeader("set-cookie", cookie.clear());
    }
    const token = sessionTokens.open(signed ?? bearerSessionToken(request) ?? "");
    if (token !== null) await sessions.end(token);
    return { success: true };
  });

  on(router, "get", "/jwks", () => parts.keys.publicKeySet());
}
