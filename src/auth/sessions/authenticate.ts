/**
 * Identifies the caller: `Authorization: Bearer` with a JWT, a session token or an API key, or else the session cookie. It runs on
 * every request and is cheap: a known token costs one map lookup, and invalid credentials are rejected without the
 * database. Without a session the caller is anonymous: `src/server/procedures.ts` answers 401 unless the procedure
 * allows that. A cookie also needs a listed origin.
 * Next hop: `verified-tokens.ts` and then `jwt.ts`, or `session-token.ts` and then `session-store.ts`, or
 * `../api-keys/key-lookup.ts`.
 */
import { foreignOrigin, type OriginPolicy } from "../../http/origin-policy.ts";
import { looksLikeKey } from "../../kit/key-format.ts";
import type { Authenticate, Session } from "../../kit/session.ts";
import type { KeyLookup } from "../api-keys/key-lookup.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { SessionStore } from "./session-store.ts";
import type { SessionTokens } from "./session-token.ts";
import type { VerifiedTokens } from "./verified-tokens.ts";

export interface AuthenticateOptions {
  /** As `Jwts.verify`. */
  verifyJwt(token: string): Promise<Session | null>;
  verified: VerifiedTokens;
  /** Of `Authorization`, in lower case. */
  schemes: readonly string[];
  sessionTokens: SessionTokens;
  sessions: SessionStore;
  /** (Default: there are no API keys) */
  keys?: KeyLookup | undefined;
  cookie: SessionCookie;
  origins: OriginPolicy;
}

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { verified, cookie, origins, schemes, sessionTokens, keys } = options;
  return (headers, access = "write") => {
    const credential = credentialIn(headers.authorization, schemes);
    if (credential !== null) {
      const known = verified.get(credential);
      if (known) return known;
      if (looksLikeJwt(credential)) return options.verifyJwt(credential);
      if (keys && looksLikeKey(credential, keys.prefix)) return keys.find(credential);
      const token = sessionTokens.open(credential);
      return token === null ? null : lookUp(options, credential, token);
    }
    const signed = cookie.read(headers.cookie);
    if (signed === null) return null;
    const known = verified.get(signed);
    const token = known ? "" : sessionTokens.open(signed);
    if (token === null) return null;
    requirePageOfOurs(origins, headers.origin, access);
    return known ?? lookUp(options, signed, token);
  };
}

/** In milliseconds: how long a session token is known. Then its session is read again, which may extend it. */
const knownFor = 5 * 60_000;

/** The session of a session token that is not cached. */
const lookUp = ({ sessions, verified }: AuthenticateOptions, signed: string, token: string): Promise<Session | null> =>
  verified.lookUp(signed, async () => {
    const found = await sessions.find(token);
    if (!found) return null;
    const { id, user, visit } = found;
    const session = Object.freeze({ id, user, ...(visit && { visit }) });
    return { session, expiresAt: Math.min(found.expiresAt.getTime(), Date.now() + knownFor) };
  });

/**
 * Prevents cross-site request forgery: the browser sends the cookie with any page's request, but also the page's
 * origin. The origin may be missing on a GET of the browser's own; if present, it is checked for reads too.
 *
 * @throws SvcError FORBIDDEN
 */
export function requirePageOfOurs(origins: OriginPolicy, origin: string | undefined, access: "read" | "write"): void {
  const isAbsent = origin === undefined && access === "read";
  if (!isAbsent && !origins.allows(origin)) throw foreignOrigin(origin);
}

/** The credential after one of the schemes; null without the header, and for other schemes, which are ignored. */
export function credentialIn(header: string | undefined, schemes: readonly string[]): string | null {
  const end = header?.indexOf(" ") ?? -1;
  if (header === undefined || end < 0 || !schemes.includes(header.slice(0, end).toLowerCase())) return null;
  return header.slice(end + 1).trim() || null;
}

/** A JWT has three parts, a session token two. `typ: JWT` is verified later with the rest. */
export function looksLikeJwt(credential: string): boolean {
  const first = credential.indexOf(".");
  const second = credential.indexOf(".", first + 1);
  return first > 0 && second > 0 && !credential.includes(".", second + 1);
}
