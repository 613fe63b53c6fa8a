/**
 * Shared helpers of the endpoints below /api/auth: read a body, find the credential, send an answer. Each other file in
 * this folder is a group of endpoints.
 */
import type { Request, RequestHandler, Response, Router } from "express";
import type { Logger } from "pino";
import { mediaType, parseJson, readBody } from "../../http/body.ts";
import { exchangeOf, sendJson } from "../../http/exchange.ts";
import { requireSignedBody } from "../../http/signed-client-address.ts";
import { isJson } from "../../kit/media-type.ts";
import type { Authenticate, SessionUser } from "../../kit/session.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { refusalIn } from "../../postgres/errors.ts";
import type { Accounts } from "../accounts.ts";
import { addressOf } from "../caller.ts";
import { addressHeader, type Library } from "../library-types.ts";
import type { MailLinks } from "../mail/mail-links.ts";
import type { OneTimeTokens } from "../mail/one-time-tokens.ts";
import type { Attempts } from "../passwords/attempts.ts";
import type { Credentials } from "../passwords/credentials.ts";
import type { Passwords } from "../passwords/passwords.ts";
import { type AuthenticateOptions, credentialIn, looksLikeJwt } from "../sessions/authenticate.ts";
import type { Jwts } from "../sessions/jwt.ts";
import type { Opened } from "../sessions/session-store.ts";
import type { Flows } from "../social/flows.ts";
import type { Providers } from "../social/providers.ts";
import type { ReturnMode } from "../social/return-mode.ts";
import type { SocialAccounts } from "../social/social-accounts.ts";

/** The parts that the endpoints use; `create-sign-in.ts` assembles them. */
export interface AuthParts extends AuthenticateOptions {
  credentials: Credentials;
  accounts: Accounts;
  attempts: Attempts;
  passwords: Passwords;
  links: MailLinks;
  jwts: Jwts;
  once: OneTimeTokens;
  library: Library;
  social: {
    providers: Providers;
    flows: Flows;
    accounts: SocialAccounts;
    /** Not empty; the first serves clients without a preference. */
    modes: readonly ReturnMode[];
    log: Logger;
  };
  authenticate: Authenticate;
}

/** In bytes. */
const maxBody = 16 * 1024;

/** Answers one request with the JSON that it resolves to; undefined when it has already sent the answer itself. */
export type Answer = (request: Request, response: Response) => Promise<object | undefined>;

/** Mounts an endpoint. Its path below /api/auth is its name in the log and in the metrics. */
export function on(router: Router, method: "get" | "post" | "delete", path: string, answer: Answer): void {
  const handler: RequestHandler = async (request, response) => {
    exchangeOf(response).operation = `/api/auth${path}`;
    const body = await answer(request, response).catch((error) => {
      throw refusalIn(error); // a trigger of the application on auth."user", or on rows that go with it
    });
    if (body !== undefined) sendJson(response, 200, JSON.stringify(body));
  };
  router[method](path, handler);
}

/** Exactly these three fields: additional fields stay on the server. */
export const publicUser = ({ id, email, name }: SessionUser) => ({ id, email, name });

/** The answer of token style to every kind of sign-in. */
export async function tokenAnswer(parts: AuthParts, opened: Opened) {
  return { user: publicUser(opened.session.user), ...(await tokensOf(parts, opened)) };
}

/** The two credentials of token style. */
export async function tokensOf({ sessionTokens, jwts }: AuthParts, { token, session }: Opened) {
  return { sessionToken: sessionTokens.sign(token), token: await jwts.sign(session) };
}

/** The answer of cookie style to every kind of sign-in: sets the cookie; the token is not exposed to scripts. */
export function setSession({ cookie, sessionTokens }: AuthParts, response: Response, { token, session }: Opened): void {
  response.setHeader("set-cookie", cookie.set(sessionTokens.sign(token), session.expiresAt));
}

/** @throws SvcError UNAUTHORIZED for a JWT, which can neither be refreshed nor signed out by itself */
export function bearerSessionToken({ schemes }: Pick<AuthParts, "schemes">, request: Request): string | null {
  const credential = credentialIn(request.headers.authorization, schemes);
  if (credential === null || !looksLikeJwt(credential)) return credential;
  throw new SvcError("UNAUTHORIZED", "This takes the session token, not the JWT.", {
    hint: "Send the sessionToken that sign-in returned as Authorization: Bearer.",
  });
}

export const isReading = (method: string): boolean => method === "GET" || method === "HEAD";

/**
 * The body of a request below /api/auth; all endpoints read it here. For a bridge's request, it must match the signed body.
 *
 * @throws SvcError PAYLOAD_TOO_LARGE; BAD_REQUEST when the body differs from the signed one
 */
export async function readAuthBody(request: Request): Promise<Buffer> {
  const body = isReading(request.method) ? Buffer.alloc(0) : await readBody(request, maxBody);
  requireSignedBody(request, body);
  return body;
}

/** @throws SvcError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_JSON */
export async function jsonBody(request: Request): Promise<unknown> {
  if (!isJson(mediaType(request))) {
    throw new SvcError("UNSUPPORTED_MEDIA_TYPE", undefined, { hint: "Send application/json." });
  }
  return parseJson(await readAuthBody(request));
}

/** Headers that the library stores in the session row: the browser and its address. */
export function about(request: Request): Headers {
  const headers = new Headers({ "user-agent": (request.headers["user-agent"] ?? "").slice(0, 512) });
  const address = addressOf(request);
  if (address) headers.set(addressHeader, address);
  return headers;
}

/** @throws SvcError FORBIDDEN when passwords are switched off */
export function requirePasswords(enabled: boolean): void {
  if (enabled) return;
  throw new SvcError("FORBIDDEN", "Signing in by e-mail and password is switched off.", {
    hint: "Set emailAndPassword.enabled in auth.ts to allow it.",
  });
}
