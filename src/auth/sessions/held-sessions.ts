/**
 * Ends the sockets and streams of sessions that have expired. No notice says that a session has expired, so each process
 * asks for all sessions of its sockets and streams, in one statement.
 * Next hop: `sql/auth/list_ended_sessions.sql`.
 */
import type pg from "pg";
import type { Logger } from "pino";
import type { Session } from "../../kit/session.ts";
import { askAuth } from "../ask-auth.ts";
import type { VerifiedTokens } from "./verified-tokens.ts";

/** In milliseconds. */
const askEvery = 60_000;

export class HeldSessions {
  readonly #pool: pg.Pool;
  readonly #verified: VerifiedTokens;
  readonly #holders: (() => Iterable<Session>)[] = [];
  readonly #timer: NodeJS.Timeout;
  #asking: Promise<void> | undefined;

  constructor({ pool, verified, log }: { pool: pg.Pool; verified: VerifiedTokens; log: Logger }) {
    this.#pool = pool;
    this.#verified = verified;
    this.#timer = setInterval(() => {
      this.#asking = this.#endExpired().catch((err: unknown) => {
        log.warn({ err }, "could not ask which sessions have expired; trying again in a minute");
      });
    }, askEvery);
    this.#timer.unref();
  }

  /** @param sessions those that are held at the time of the call */
  add(sessions: () => Iterable<Session>): void {
    this.#holders.push(sessions);
  }

  /** @throws SvcError UNAVAILABLE when the database cannot be reached; then nothing ends */
  async #endExpired(): Promise<void> {
    const users = new Map<string, string>();
    for (const sessions of this.#holders) for (const { id, user } of sessions()) users.set(id, user.id);
    if (users.size === 0) return;
    const what = "id from auth.list_ended_sessions($1) as id";
    for (const { id } of await askAuth<{ id: string }>(this.#pool, what, [[...users.keys()]])) {
      this.#verified.end({ user: users.get(id) ?? "", session: id });
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#asking;
  }
}
