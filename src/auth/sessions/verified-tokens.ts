/**
 * JWTs that this process has verified, so that a token seen before costs one look into a map. What it holds is believed
 * without asking anybody; hence everything that ends a token has to reach it.
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

/** @param userId null: everything may have ended. @param sessionId undefined: all of the user's */
export type EndListener = (userId: string | null, sessionId?: string) => void;

export class VerifiedTokens {
  readonly #size: number;
  /**
   * By the token itself. A hash as the key would cost a pass of SHA-256 on every request and protect nothing: whoever
   * reads this process's memory finds the signing key in it. Only tokens that we signed get in, so nobody can fill it
   * with inventions.
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
   * How often something has been forgotten. What was looked up while this number moved may be what has just ended, and
   * must not be remembered.
   */
  get endings(): number {
    return this.#endings;
  }

  /** Calls back whenever something has ended, here or in another process. */
  onEnd(listener: EndListener): void {
    this.#listeners.add(listener);
  }

  /** Whose token this is, as long as it may be believed. */
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
    // All live five minutes, so the one that came first is the one that expires first, more or less.
    if (this.#byToken.size >= this.#size && !first.done) this.#drop(...first.value);
    this.#byToken.set(token, { session, expiresAt });
    const tokens = this.#byUser.get(session.user.id);
    if (tokens) tokens.add(token);
    else this.#byUser.set(session.user.id, new Set([token]));
  }

  /** Forgets a user's tokens, or those of one session. */
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
