/**
 * Cache of the JWTs and session tokens that this process has verified: a known token costs one map lookup. Entries are
 * trusted without a query, so everything that ends a session must reach `end`: notices, the write-ahead log, and
 * sign-outs of this process. From here it reaches the sockets (`src/service/service.ts` connects them).
 * Next hop: `jwt.ts` and `authenticate.ts` fill it, `revocations.ts` and `session-store.ts` empty it.
 */
import type { Ended, Session } from "../../kit/session.ts";

/** Verified tokens kept per process: about 1 kB each. */
const defaultSize = 20_000;

export interface Verified {
  session: Session;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

/** An entry ends by both clocks: that of the machine may be set back, the process's own stops while the machine sleeps. */
interface Known extends Verified {
  /** In milliseconds of `performance.now`. */
  endsAt: number;
}

export class VerifiedTokens {
  readonly #size: number;
  /**
   * Keyed by the token itself. Hashed keys would cost a SHA-256 per request and protect nothing: this process's memory
   * also contains the signing key. Only tokens that we signed are added, so attackers cannot fill the map.
   */
  readonly #byToken = new Map<string, Known>();
  readonly #byUser = new Map<string, Set<string>>();
  #endings = 0;
  #trustedUntil = Number.NEGATIVE_INFINITY;
  /** Called whenever sessions have ended, in this process or another. (Default: nothing happens) */
  onEnd: (ended: Ended) => void = () => {};

  /** @param size (Default: 20,000) */
  constructor(size = defaultSize) {
    this.#size = size;
  }

  /**
   * The session of a token that is not known, and which is known from then on.
   *
   * @param find looks it up. A notice that arrives meanwhile may concern the token: then it is not kept, and the next call
   *   asks again. When revocations are not received, the cache is cleared before it is used again
   */
  async lookUp(token: string, find: () => Promise<Verified | null>): Promise<Session | null> {
    const endings = this.#endings;
    const found = await find();
    if (found && endings === this.#endings) this.add(token, found.session, found.expiresAt);
    return found?.session ?? null;
  }

  /** How often entries were removed. A result that was looked up while this number changed may be outdated. */
  get endings(): number {
    return this.#endings;
  }

  /** Whether the cache may be used: every revocation would have been received. */
  get isTrusted(): boolean {
    return performance.now() < this.#trustedUntil;
  }

  /** @param until in milliseconds of `performance.now`: revocations are received at least until then */
  trust(until: number): void {
    this.#trustedUntil = until;
  }

  /** The token's session, while it may be trusted. */
  get(token: string): Session | undefined {
    const known = this.isTrusted ? this.#byToken.get(token) : undefined;
    if (!known) return undefined;
    if (known.expiresAt > Date.now() && known.endsAt > performance.now()) return known.session;
    this.#drop(token, known);
    return undefined;
  }

  /** @param expiresAt in milliseconds since 1970 */
  add(given: string, session: Session, expiresAt: number): void {
    const token = Buffer.from(given).toString(); // a copy: a part of a header keeps the whole header in memory
    const first = this.#byToken.entries().next();
    // All tokens are known for five minutes, so the oldest entry expires first, roughly.
    if (this.#byToken.size >= this.#size && !first.done) this.#drop(...first.value);
    this.#byToken.set(token, { session, expiresAt, endsAt: performance.now() + expiresAt - Date.now() });
    const tokens = this.#byUser.get(session.user.id);
    if (tokens) tokens.add(token);
    else this.#byUser.set(session.user.id, new Set([token]));
  }

  /**
   * Removes a user's tokens, so that each is looked up again: some of the user's sessions have ended, and the notice
   * that says which may take a moment.
   */
  forget(user: string): void {
    this.#endings++;
    this.#dropTokens(user);
  }

  /** Removes the tokens of sessions that have ended, then tells the listener. */
  end(ended: Ended): void {
    this.#endings++;
    const { user, session } = ended;
    if (user === undefined) {
      this.#byToken.clear();
      this.#byUser.clear();
    } else this.#dropTokens(user, session);
    this.onEnd(ended);
  }

  /** @param session of this one alone. (Default: of all sessions of the user) */
  #dropTokens(user: string, session?: string): void {
    for (const token of this.#byUser.get(user) ?? []) {
      const known = this.#byToken.get(token);
      if (known && (session === undefined || known.session.id === session)) this.#drop(token, known);
    }
  }

  #drop(token: string, { session }: Known): void {
    this.#byToken.delete(token);
    const tokens = this.#byUser.get(session.user.id);
    tokens?.delete(token);
    if (tokens?.size === 0) this.#byUser.delete(session.user.id);
  }
}
