/**
 * Token style: the client holds a session token and a JWT, and sends them itself.
 * Next hop: `../passwords/credentials.ts` for passwords, `../sessions/jwt.ts` for tokens.
 */
import type { Router } from "express";
import { SvcError } from "../../kit/svc-error.ts";
import { secondFactorRequired } from "../passwords/second-factor.ts";
import { type AuthParts, about, bearerSessionToken, jsonBody, on, requirePasswords, tokenAnswer } from "./endpoint.ts";

export function tokenStyle(router: Router, parts: AuthParts): void {
  const { credentials, jwts, origins, sessions, sessionTokens } = parts;

  for (const act of ["signUp", "signIn"] as const) {
    on(router, "post", paths[act], async (request) => {
      const { origin } = request.headers;
      requirePasswords(credentials.enabled);
      const body = await jsonBody(request);
      const { opened } = await credentials[act](body, about(request), origins.allows(origin) ? origin : undefined);
      if (!opened) throw secondFactorRequired();
      return tokenAnswer(parts, opened);
    });
  }

  on(router, "post", "/token", async (request) => {
    const signed = bearerSessionToken(parts, request) ?? "";
    const token = sessionTokens.open(signed);
    const session = token === null ? null : await sessions.find(token);
    if (!session) throw new SvcError("UNAUTHORIZED", "The session has ended. Sign in again.");
    const sessionToken = sessionTokens.renew(signed);
    return { token: await jwts.sign(session), ...(sessionToken !== null && { sessionToken }) };
  });
}

const paths = { signUp: "/sign-up", signIn: "/sign-in" };
