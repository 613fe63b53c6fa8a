/**
 * Runs queries again for those who watch them, when ctx.realtime.refresh says so, and sends the results.
 * Next hop: `src/server/rerun.ts`.
 */
import { inTime } from "../kit/in-time.ts";
import type { Session } from "../kit/session.ts";

/**
 * Runs a query that anyone may call, as the user of a session.
 *
 * @param xid the transaction whose changes the result has to have
 * @returns its result encoded as a body, or null when it fails or lacks these changes
 */
export type Rerun = (key: string, session: Session | null, xid: string) => Promise<string | null>;

interface Watchers {
  /** The sessions of those who watch the query now; null: nobody is signed in. */
  sessions(key: string): Iterable<Session | null>;
  /** Sends a frame to those of a session who watch the query. */
  tell(key: string, session: Session | null, frame: string): void;
}

/** Of one query: other calls keep their connections. */
const atOnce = 4;
/** In milliseconds: then those who wait for it ask by themselves. */
const longest = 30_000;

export class Refreshes {
  readonly #rerun: Rerun;
  readonly #watchers: Watchers;
  /** Queries that are being run, with the last transaction that wants that once more. */
  readonly #running = new Map<string, string | null>();

  constructor(rerun: Rerun, watchers: Watchers) {
    this.#rerun = rerun;
    this.#watchers = watchers;
  }

  /** One run of a query after the other: of two at a time, the one that saw less may be the last to end. */
  async begin(key: string, xid: string): Promise<void> {
    if (this.#running.has(key)) {
      this.#running.set(key, xid);
      return;
    }
    for (let next: string | null = xid; next !== null; next = this.#running.get(key) ?? null) {
      this.#running.set(key, null);
      await this.#refresh(key, next);
    }
    this.#running.delete(key);
  }

  /** Once for each session, as its user, and once for all who are not signed in. */
  async #refresh(key: string, xid: string): Promise<void> {
    const sessions = [...this.#watchers.sessions(key)].values();
    const refreshNext = async () => {
      for (const session of sessions) {
        // A handler may wait for ever, and the next run would wait for it.
        const body = (await inTime(this.#rerun(key, session, xid), longest).catch(() => null)) ?? null;
        const frame =
          body === null
            ? JSON.stringify({ type: "invalidate", queries: [key], xid })
            : `{"type":"query:updated","query":${JSON.stringify(key)},"result":${body},"xid":"${xid}"}`;
        this.#watchers.tell(key, session, frame);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, refreshNext));
  }
}
