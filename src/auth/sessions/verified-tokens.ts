/**
 * Cache of JWTs that this process has verified: a known token costs one map lookup. Entries are trusted without a
 * query, so everything that ends a token must reach this cache.
 * Next hop: `jwt.ts` fills it, `revocations.ts` and `session-store.ts` empty it.
 */
import type { Session } from "../../kit/session.ts";

/** Verified tokens kept per process: about 1 kB each. */
const defaultSize = 20_000;

interface Verified {
  session: Session;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

/** @param userId null: all sessions may have ended. @param sessionId undefined: all sessions of the user */
export type EndListener = (userId: string | null, sessionId?: string) => void;

export class VerifiedTokens {
  readonly #size: number;
  /**
   * Keyed by the token itself. Hashed keys would cost a SHA-256 per request and protect nothing: this process's memory
   * also contains the signing key. Only tokens that we signed are added, so attackers cannot fill the map.
   */
  readonly #byToken = new Map<string, Verified>();
  readonly #byUser = new Map<string, Set<string>>();
  readonly #listeners = new Set<EndListener>();
  #endings = 0;

  /** @param size (Default: 20,000) */
  constructor(size = defaultSize) {
    this.#size = size;
  }

  /**
   * How often entries were removed. A result that was looked up while this number changed may be outdated and must not
   * be cached.
   */
  get endings(): number {
    return this.#endings;
  }

  /** Calls back whenever a token has ended, in this process or another. */
  onEnd(listener: EndListener): void {
    this.#listeners.add(listener);
  }

  /** The token's session, while it may be trusted. */
  get(token: string): Session | undefined {
    const known = this.#byToken.get(token);
    if (!known) return undefined;
    if (known.expiresAt > Date.now()) return known.session;
    this.#drop(token, known);
    return undefined;
  }

  /** @param expiresAt in milliseconds since 1970 */
  add(token: string, session: Session, expiresAt: number): void {
    const first = this.#byToken.entries().next();
    // All tokens live five minutes, so the oldest entry expires first, roughly.
    if (this.#byToken.size >= this.#size && !first.done) this.#drop(...first.value);
    this.#byToken.set(token, { session, expiresAt });
    const tokens = this.#byUser.get(session.user.id);
    if (tokens) tokens.add(token);
    else this.#byUser.set(session.user.id, new Set([token]));
  }

  /** Removes a user's tokens, or those of one session. */
  forget(userId: string, sessionId?: string): void {
    this.#endings++;
    for (const token of this.#byUser.get(userId) ?? []) {
      const known = this.#byToken.get(token);
      if (known && (sessionId === undefined || known.session.id === sessionId)) this.#drop(token, known);
    }
    for (const listener of this.#listeners) listener(userId, sessionId);
  }

  forgetAll(): void {
    this.#endings++;
    this.#byToken.clear();
    this.#byUser.clear();
    for (const listener of this.#listeners) listener(null);
  }

  #drop(token: string, { session }: Verified): void {
    this.#byToken.delete(token);
    const tokens = this.#byUser.get(session.user.id);
    tokens?.delete(token);
    if (tokens?.size === 0) this.#byUser.delete(session.user.id);
  }
}
