/**
 * Sessions in the database: find, extend, end.
 * Next hop: `sql/auth/find_session.sql`; writes go through the library, so that its hooks see them.
 */
import type pg from "pg";
import type { Session } from "../../kit/session.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { askAuth } from "../ask-auth.ts";
import type { Library } from "../library-types.ts";
import { type AdditionalFields, type UserRow, userOf } from "../user-fields.ts";
import type { PresentSession } from "./present-session.ts";
import type { VerifiedTokens } from "./verified-tokens.ts";

export interface LiveSession extends Session {
  expiresAt: Date;
  /** Version of the user's row, changed by every update: the `ver` claim of a JWT. */
  version: number;
}

/** A session that has just been opened, and its bare token. */
export interface Opened {
  token: string;
  session: LiveSession;
}

interface Row extends UserRow {
  session_id: string;
  expires_at: Date;
  user_id: string;
  /** A 64-bit number, as text. */
  version: string;
}

/** In milliseconds: `createdAt` and `expiresAt` of a new session are not computed at the same moment. */
const clockSteps = 1000;

const columns = "session_id, expires_at, user_id, version, email, name, fields";

/** In seconds. */
interface Lifetimes {
  /** Of a session since it was last extended. */
  expiresIn: number;
  /** A session is extended at most so often. */
  updateAge: number;
}

const day = 24 * 60 * 60;
export const defaultLifetimes: Lifetimes = { expiresIn: 7 * day, updateAge: day };

interface SessionStoreOptions {
  pool: pg.Pool;
  /** Loaded by the first write. */
  library: () => Promise<Library>;
  fields: AdditionalFields;
  verified: VerifiedTokens;
}

export class SessionStore {
  /** The application can choose others. */
  lifetimes: Lifetimes = defaultLifetimes;
  readonly #options: SessionStoreOptions;

  constructor(options: SessionStoreOptions) {
    this.#options = options;
  }

  /**
   * Finds a live session. Extends it when the last extension is a day or more ago.
   *
   * @param token bare, without its signature
   * @throws SvcError UNAVAILABLE when the database cannot be reached
   */
  async find(token: string): Promise<LiveSession | null> {
    const row = await this.#read(token);
    if (!row) return null;
    const { expiresIn, updateAge } = this.lifetimes;
    const due = row.expires_at.getTime() - (expiresIn - updateAge) * 1000 <= Date.now();
    const session = this.#toSession(row);
    return due ? this.#slide(token, session) : session;
  }

  /** Reads a session that has just been created. @param token bare */
  async opened(token: string): Promise<Opened> {
    const session = await this.find(token);
    if (!session) throw new Error("The session that was just created is not there.");
    return { token, session };
  }

  /**
   * Ends a sign-in by password: gives the session that the library has just created, and settles the attempt. If the
   * password was replaced while it was hashed, ends the session.
   *
   * @param token bare
   * @param seenHash the stored hash that the password was compared with
   * @param settlement from `Attempts.settlement`
   * @throws SvcError INVALID_CREDENTIALS then; UNAVAILABLE when the database cannot be reached
   */
  async open(token: string, seenHash: string | undefined, settlement: readonly (string | null)[]): Promise<Opened> {
    const what = `${columns} from auth.open_session($1, $2, $3, $4, $5)`;
    const [row] = await askAuth<Row>(this.#options.pool, what, [token, seenHash, ...settlement]);
    if (row) return { token, session: this.#toSession(row) };
    await this.#delete(token);
    throw new SvcError("INVALID_CREDENTIALS");
  }

  #toSession(row: Row): LiveSession {
    const visit = row.fields["session.impersonated_by"];
    return {
      id: row.session_id,
      expiresAt: row.expires_at,
      version: Number(row.version),
      user: userOf(this.#options.fields, row.user_id, row),
      ...(typeof visit === "string" && { visit }),
    };
  }

  /** Not a session that was opened for less than the full time, nor an administrator's as another user. */
  async #slide(token: string, session: LiveSession): Promise<LiveSession> {
    const { adapter, internalAdapter } = (await this.#options.library()).context;
    const { expiresIn } = this.lifetimes;
    const where = [{ field: "token", value: token }];
    const row = await adapter.findOne<PresentSession>({ model: "session", where });
    const given = row ? row.expiresAt.getTime() - row.createdAt.getTime() : 0;
    if (row?.impersonatedBy || given < expiresIn * 1000 - clockSteps) return session;
    const now = Date.now();
    const expiresAt = new Date(now + expiresIn * 1000);
    await internalAdapter.updateSession(token, { expiresAt, updatedAt: new Date(now) });
    return { ...session, expiresAt };
  }

  /** Whether a session is still valid. @param id of its row, not its token */
  async has(id: string): Promise<boolean> {
    const [row] = await askAuth<{ has: boolean }>(this.#options.pool, "auth.has_session($1) as has", [id]);
    return row?.has === true;
  }

  /**
   * Ends a visit together with the session of the administrator in which it began.
   *
   * @throws SvcError UNAUTHORIZED, and the visit is over, if that session has just ended
   */
  async bindVisit(visit: Session, beganIn: Session): Promise<void> {
    const values = [visit.id, beganIn.id];
    const [row] = await askAuth<{ lives: boolean }>(this.#options.pool, "auth.bind_visit($1, $2) as lives", values);
    if (!row?.lives) throw new SvcError("UNAUTHORIZED");
  }

  /** Ends a session and, in this process, its JWTs at once; other processes are notified. An unknown token is not an error. */
  async end(token: string): Promise<void> {
    const row = await this.#read(token);
    await this.#delete(token);
    if (row) this.#options.verified.end({ user: row.user_id, session: row.session_id });
  }

  async #delete(token: string): Promise<void> {
    await (await this.#options.library()).context.internalAdapter.deleteSession(token);
  }

  async #read(token: string): Promise<Row | undefined> {
    const [row] = await askAuth<Row>(this.#options.pool, `${columns} from auth.find_session($1)`, [token]);
    return row;
  }
}
