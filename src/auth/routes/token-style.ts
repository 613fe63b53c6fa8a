/**
 * Token style: the client holds a session token and a JWT, and sends them itself.
 * Next hop: `../passwords/credentials.ts` for passwords, `../sessions/jwt.ts` for tokens.
 */
import type { Router } from "express";
import { SvcError } from "../../kit/svc-error.ts";
import { secondFactorRequired } from "../passwords/second-factor.ts";
import { findSession } from "../sessions/authenticate.ts";
import {
  type AuthParts,
  about,
  bearerSessionToken,
  jsonBody,
  on,
  pageOf,
  requirePasswords,
  tokenAnswer,
} from "./endpoint.ts";

export function tokenStyle(router: Router, parts: AuthParts): void {
  const { credentials, jwts, sessionTokens } = parts;

  on(router, "post", "/sign-up", async (request) => {
    requirePasswords(credentials.enabled);
    const body = await jsonBody(request);
    const { opened } = await credentials.signUp(body, about(request), pageOf(parts, request));
    return tokenAnswer(parts, opened);
  });

  on(router, "post", "/sign-in", async (request) => {
    requirePasswords(credentials.enabled);
    const body = await jsonBody(request);
    const { opened } = await credentials.signIn(body, about(request), pageOf(parts, request));
    if (!opened) throw secondFactorRequired();
    return tokenAnswer(parts, opened);
  });

  on(router, "post", "/token", async (request) => {
    const signed = bearerSessionToken(parts, request) ?? "";
    const session = await findSession(parts, signed);
    if (!session) throw new SvcError("UNAUTHORIZED", "The session has ended. Sign in again.");
    const sessionToken = sessionTokens.renew(signed);
    return { token: await jwts.sign(session), ...(sessionToken !== null && { sessionToken }) };
  });
}
