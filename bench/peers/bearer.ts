/** Who a request is from, as the hand-written peers find out: a JWT verified with jose. */
import type { NextFunction, Request, Response } from "express";
import { createRemoteJWKSet, jwtVerify } from "jose";

/** @returns a function that gives the user's id for an `Authorization` header, or undefined */
export function verifier(jwksUrl: string, issuer: string) {
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  const verifiedTokens = new Map<string, string>();

  /** Caches verified tokens, as the product does, so that the comparison is about the rest. */
  return async (authorization: string | undefined): Promise<string | undefined> => {
    const token = authorization?.slice(7) ?? "";
    const known = verifiedTokens.get(token);
    if (known) return known;
    const { payload } = await jwtVerify(token, keys, { issuer }).catch(() => ({ payload: { sub: undefined } }));
    if (payload.sub) verifiedTokens.set(token, payload.sub);
    return payload.sub;
  };
}

/** Express middleware that sets `response.locals.userId`, or answers 401. */
export function bearer(jwksUrl: string, issuer: string) {
  const verify = verifier(jwksUrl, issuer);
  return async (request: Request, response: Response, next: NextFunction) => {
    const verified = await verify(request.headers.authorization);
    if (!verified) return void response.status(401).json({ error: "unauthorized" });
    response.locals.userId = verified;
    next();
  };
}
