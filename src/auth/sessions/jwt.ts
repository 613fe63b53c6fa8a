/**
 * Issues and verifies JWTs. They live five minutes, or less when the session ends or the user's row changes. Only EdDSA
 * is accepted. The database is asked once per process and token, as long as revocations are received.
 * Next hop: `key-store.ts` holds the keys, `verified-tokens.ts` caches tokens, `sql/auth/check_session.sql` decides.
 */
import { randomUUID } from "node:crypto";
import { errors, type JWK, type JWTPayload, jwtVerify, SignJWT } from "jose";
import type pg from "pg";
import type { Logger } from "pino";
import type { Session } from "../../kit/session.ts";
import { askAuth } from "../ask-auth.ts";
import { type AdditionalFields, sessionUser } from "../user-fields.ts";
import { algorithm, KeyStore } from "./key-store.ts";
import type { LiveSession } from "./session-store.ts";
import type { VerifiedTokens } from "./verified-tokens.ts";

/** In seconds. */
const jwtLifetime = 5 * 60;

export interface JwtOptions {
  /** Newest first. */
  secrets: readonly string[];
  /** Our own origin: the `iss` and `aud` of the tokens. */
  origin: string;
  fields: AdditionalFields;
  /** Connections as svc_auth. */
  pool: pg.Pool;
  verified: VerifiedTokens;
  log: Logger;
}

/** @throws Error when no key can sign: better now than at a sign-in */
export async function openJwts(options: JwtOptions): Promise<Jwts> {
  const keys = new KeyStore(options.pool, options.secrets, options.log);
  await keys.signingKey();
  return new Jwts(options, keys);
}

export class Jwts {
  readonly #options: JwtOptions;
  readonly #keys: KeyStore;

  constructor(options: JwtOptions, keys: KeyStore) {
    this.#options = options;
    this.#keys = keys;
  }

  /** The JSON Web Key Set, for other services that verify our tokens. */
  publicKeySet(): Promise<{ keys: JWK[] }> {
    return this.#keys.publicKeySet();
  }

  /** Issues a token for a live session. It expires no later than the session. */
  async sign(session: LiveSession): Promise<string> {
    const { origin } = this.#options;
    const { kid, privateKey } = await this.#keys.signingKey();
    const { id, email, name, ...fields } = session.user;
    const now = Math.floor(Date.now() / 1000);
    const { visit } = session;
    return new SignJWT({ sid: session.id, ver: session.version, email, name, fields, ...(visit && { visit }) })
      .setProtectedHeader({ alg: algorithm, typ: "JWT", kid })
      .setIssuer(origin)
      .setAudience(origin)
      .setSubject(id)
      .setJti(randomUUID()) // otherwise two tokens of a session and second would be the same
      .setIssuedAt(now)
      .setExpirationTime(Math.min(now + jwtLifetime, Math.floor(session.expiresAt.getTime() / 1000)))
      .sign(privateKey);
  }

  /**
   * The session of a token that is not cached; null when the token is not ours, not valid, or no longer valid.
   *
   * @throws SvcError UNAVAILABLE when the database had to be asked and cannot be reached
   */
  async verify(token: string): Promise<Session | null> {
    const payload = await this.#open(token);
    const session = payload && this.#toSession(payload);
    if (!session) return null;
    return this.#options.verified.lookUp(token, async () => {
      const endsAt = await this.#endOf(session, payload.ver);
      if (endsAt === null) return null;
      // Not for longer than our tokens live, whatever it claims: the key that signed it may be retired.
      return { session, expiresAt: Math.min(Number(payload.exp) * 1000, endsAt, Date.now() + jwtLifetime * 1000) };
    });
  }

  /** The claims, if we signed the token for ourselves and it has not expired. */
  async #open(token: string): Promise<JWTPayload | null> {
    const { origin } = this.#options;
    try {
      const { payload } = await jwtVerify(
        token,
        async ({ kid }) => {
          const key = kid === undefined ? null : await this.#keys.publicKey(kid);
          if (!key) throw new errors.JWKSNoMatchingKey();
          return key;
        },
        {
          algorithms: [algorithm],
          typ: "JWT",
          issuer: origin,
          audience: origin,
          requiredClaims: ["sub", "sid", "ver", "iat", "exp"],
        },
      );
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  /** When the session ends, in milliseconds since 1970; null when it has ended or the user's row has another version. */
  async #endOf({ id, user }: Session, version: unknown): Promise<number | null> {
    if (!Number.isSafeInteger(version)) return null;
    const what = "expires_at from auth.check_session($1, $2, $3)";
    const [row] = await askAuth<{ expires_at: Date }>(this.#options.pool, what, [id, user.id, version]);
    return row ? row.expires_at.getTime() : null;
  }

  #toSession({ sub, sid, email, name, fields, visit }: JWTPayload): Session | null {
    if (typeof sub !== "string" || typeof sid !== "string") return null;
    if (typeof email !== "string" || typeof name !== "string") return null;
    const additional = typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
    const user = sessionUser(this.#options.fields, { id: sub, email, name }, additional);
    return Object.freeze({ id: sid, user, ...(typeof visit === "string" && { visit }) });
  }
}
