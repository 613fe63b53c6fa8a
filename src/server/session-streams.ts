/**
 * Answers to signed-in callers that are sent as streams: exports, and streams of routes. They may stay open for hours and read on
 * as the caller, so they end with the caller's session, as sockets do: revoked or expired. All other answers are completed.
 * Next hop: `export.ts` and `routes.ts` register them.
 */
import type { ServerResponse } from "node:http";
import { exchangeOf } from "../http/exchange.ts";
import type { Ended, Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";

export class SessionStreams {
  readonly #answers: Iterable<ServerResponse>;
  readonly #hasSession: (id: string) => Promise<boolean>;

  /** @param answers those under way @param hasSession whether the session with that id is still valid */
  constructor(answers: Iterable<ServerResponse>, hasSession: (id: string) => Promise<boolean>) {
    this.#answers = answers;
    this.#hasSession = hasSession;
  }

  /** The sessions whose answers may still be cut. */
  *sessions(): Generator<Session> {
    for (const response of this.#answers) {
      const { begun } = exchangeOf(response);
      if (begun) yield begun.session;
    }
  }

  /** Must be called once the caller is known: the session may end before the stream begins. */
  begin(response: ServerResponse, session: Session | null): void {
    if (session) exchangeOf(response).begun = { session, isStream: false, hasEnded: false };
  }

  /** From now on the answer is cut when its session ends, or at once if it has ended. */
  stream(response: ServerResponse): void {
    const { begun } = exchangeOf(response);
    if (!begun) return;
    begun.isStream = true;
    if (begun.hasEnded) cut(response);
  }

  /**
   * A notice without a session is about a changed user, whose sessions go on; keys end if the user is banned. One without a
   * user says that others may have been missed. For both the database is asked.
   */
  async end({ user, session }: Ended): Promise<void> {
    for (const response of this.#answers) {
      const { begun } = exchangeOf(response);
      if (!begun) continue;
      const { id, key, user: own } = begun.session;
      const isUnclear = user === undefined || (key && session === undefined && user === own.id);
      const isOver = isUnclear ? !(await this.#hasSession(id).catch(() => false)) : session === id;
      if (!isOver) continue;
      begun.hasEnded = true;
      if (begun.isStream) cut(response);
    }
  }
}

function cut(response: ServerResponse): void {
  exchangeOf(response).error = new SvcError("UNAUTHORIZED", "The session has ended.");
  response.destroy();
}
