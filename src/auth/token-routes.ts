/**
 * The endpoints of token-style authentication, below /api/auth.
 * Next hop: `credentials.ts` for passwords, `session-store.ts` for sessions, `jwt.ts` for tokens.
 */
import { type Request, type RequestHandler, Router } from "express";
import { SvcError } from "../errors/svc-error.ts";
import { isJson, mediaType, parseJson, readBody } from "../http/body.ts";
import { exchangeOf, sendJson } from "../http/exchange.ts";
import { type AuthenticateOptions, bearer, findSession, looksLikeJwt } from "./authenticate.ts";
import type { Credentials } from "./credentials.ts";
import type { KeyStore } from "./key-store.ts";
import { addressHeader } from "./library.ts";
import type { Authenticate, SessionUser } from "./session.ts";

export interface TokenRoutes extends AuthenticateOptions {
  credentials: Credentials;
  keys: KeyStore;
  authenticate: Authenticate;
}

/** In bytes. */
const maxBody = 16 * 1024;

export function tokenRoutes(parts: TokenRoutes): Router {
  const { credentials, sessions, sessionTokens, jwts } = parts;

  /** What a sign-up or sign-in answers, from the bare token of the session it made. */
  const signedIn = async (token: string) => {
    const session = await sessions.find(token);
    if (!session) throw new Error("The session that was just created is not there.");
    return { user: publicUser(session.user), sessionToken: sessionTokens.sign(token), token: await jwts.sign(session) };
  };

  const router = Router();
  const on = (method: "get" | "post", path: string, answer: (request: Request) => Promise<object>) => {
    router[method](path, named(`/api/auth${path}`, answer));
  };

  on("post", "/sign-up", async (request) => {
    refuseUnless(credentials.enabled);
    return signedIn(await credentials.signUp(await jsonBody(request), about(request)));
  });

  on("post", "/sign-in", async (request) => {
    refuseUnless(credentials.enabled);
    return signedIn(await credentials.signIn(await jsonBody(request), about(request)));
  });

  on("post", "/token", async (request) => {
    const session = await findSession(parts, sessionToken(request) ?? "");
    if (!session) throw new SvcError("UNAUTHORIZED", "The session has ended. Sign in again.");
    return { token: await jwts.sign(session) };
  });

  on("post", "/sign-out", async (request) => {
    const token = sessionTokens.open(sessionToken(request) ?? "");
    if (token !== null) await sessions.end(token);
    return { success: true };
  });

  on("get", "/me", async (request) => {
    const session = await parts.authenticate(request.headers);
    if (!session) throw new SvcError("UNAUTHORIZED");
    return { user: publicUser(session.user) };
  });

  on("get", "/jwks", () => parts.keys.publicKeySet());

  return router;
}

/** Exactly these three: additional fields are the server's business, and a password hash is never near. */
const publicUser = ({ id, email, name }: SessionUser) => ({ id, email, name });

function named(operation: string, answer: (request: Request) => Promise<object>): RequestHandler {
  return async (request, response) => {
    exchangeOf(response).operation = operation;
    sendJson(response, 200, JSON.stringify(await answer(request)));
  };
}

function refuseUnless(enabled: boolean): void {
  if (enabled) return;
  throw new SvcError("FORBIDDEN", "Signing in by e-mail and password is switched off.", {
    hint: "Set emailAndPassword.enabled in auth.ts to allow it.",
  });
}

/** @throws SvcError UNAUTHORIZED for a JWT, which can neither be refreshed nor signed out by itself */
function sessionToken(request: Request): string | null {
  const credential = bearer(request.headers.authorization);
  if (credential === null || !looksLikeJwt(credential)) return credential;
  throw new SvcError("UNAUTHORIZED", "This takes the session token, not the JWT.", {
    hint: "Send the sessionToken that sign-in returned as Authorization: Bearer.",
  });
}

async function jsonBody(request: Request): Promise<unknown> {
  if (!isJson(mediaType(request))) {
    throw new SvcError("UNSUPPORTED_MEDIA_TYPE", undefined, { hint: "Send application/json." });
  }
  return parseJson(await readBody(request, maxBody));
}

/** What the library writes into the session row: which browser, and from where. */
function about(request: Request): Headers {
  const headers = new Headers({ "user-agent": (request.headers["user-agent"] ?? "").slice(0, 512) });
  if (request.ip) headers.set(addressHeader, request.ip);
  return headers;
}
