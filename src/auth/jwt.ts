/**
 * JWTs: five minutes of being somebody, checked without the database. EdDSA and nothing else.
 * Next hop: `key-store.ts` holds the keys.
 */
import { errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import type { KeyStore } from "./key-store.ts";
import type { Session } from "./session.ts";
import type { LiveSession } from "./session-store.ts";
import { type AdditionalFields, readFields } from "./user-fields.ts";

/** In seconds. */
export const jwtLifetime = 5 * 60;

/** Verified tokens kept per process: about 1 kB each. */
const cacheSize = 20_000;

const algorithm = "EdDSA";

export interface JwtOptions {
  keys: KeyStore;
  /** Our own origin: who issues the tokens, and for whom. */
  origin: string;
  fields: AdditionalFields;
}

export class Jwts {
  readonly #options: JwtOptions;
  /**
   * What was verified, by the token itself. A hash as the key would cost a pass of SHA-256 on every request and protect
   * nothing: whoever reads this process's memory finds the signing key in it. Only tokens that we signed get in, so
   * nobody can fill it with inventions.
   */
  readonly #verified = new Map<string, { session: Session; expiresAt: number }>();

  constructor(options: JwtOptions) {
    this.#options = options;
  }

  /** Issues a token for a live session. It does not outlive the session. */
  async sign(session: LiveSession): Promise<string> {
    const { keys, origin } = this.#options;
    const { kid, privateKey } = await keys.signingKey();
    const { id, email, name, ...fields } = session.user;
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ sid: session.id, email, name, fields })
      .setProtectedHeader({ alg: algorithm, typ: "JWT", kid })
      .setIssuer(origin)
      .setAudience(origin)
      .setSubject(id)
      .setIssuedAt(now)
      .setExpirationTime(Math.min(now + jwtLifetime, Math.floor(session.expiresAt.getTime() / 1000)))
      .sign(privateKey);
  }

  /**
   * Whose token this is; null when it is not ours, not valid, or no longer.
   *
   * @returns at once when the token has been seen before
   * @throws SvcError UNAVAILABLE when its key had to be looked up and the database cannot be reached
   */
  verify(token: string): Session | null | Promise<Session | null> {
    const known = this.#verified.get(token);
    if (!known) return this.#verifyNew(token);
    if (known.expiresAt > Date.now()) return known.session;
    this.#verified.delete(token);
    return null;
  }

  forgetAll(): void {
    this.#verified.clear();
  }

  async #verifyNew(token: string): Promise<Session | null> {
    const { keys, origin } = this.#options;
    try {
      const { payload } = await jwtVerify(
        token,
        async ({ kid }) => {
          const key = kid === undefined ? null : await keys.publicKey(kid);
          if (!key) throw new errors.JWKSNoMatchingKey();
          return key;
        },
        {
          algorithms: [algorithm],
          typ: "JWT",
          issuer: origin,
          audience: origin,
          requiredClaims: ["sub", "sid", "iat", "exp"],
        },
      );
      const session = this.#toSession(payload);
      if (session) this.#remember(token, session, Number(payload.exp) * 1000);
      return session;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  #toSession({ sub, sid, email, name, fields }: JWTPayload): Session | null {
    if (typeof sub !== "string" || typeof sid !== "string") return null;
    if (typeof email !== "string" || typeof name !== "string") return null;
    const additional = typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
    const user = { ...readFields(this.#options.fields, additional, (field) => field), id: sub, email, name };
    // One object serves every request with this token. A handler that writes to it must not change the next one's user.
    return Object.freeze({ id: sid, user: Object.freeze(user) });
  }

  #remember(token: string, session: Session, expiresAt: number): void {
    if (this.#verified.size >= cacheSize) {
      // All live five minutes, so the one that came first is the one that expires first, more or less.
      const first = this.#verified.keys().next();
      if (!first.done) this.#verified.delete(first.value);
    }
    this.#verified.set(token, { session, expiresAt });
  }
}
