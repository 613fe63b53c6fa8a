/**
 * Sessions in the database: find, extend, end.
 * Next hop: `sql/auth/find_session.sql`; writes go through the library, so that its hooks see them.
 */
import type pg from "pg";
import type { Session } from "../../kit/session.ts";
import { runStatement } from "../../postgres/run-statement.ts";
import type { Library } from "../library-types.ts";
import { type AdditionalFields, columnOf, readFields } from "../user-fields.ts";
import type { VerifiedTokens } from "./verified-tokens.ts";

/** A session with its expiry. */
export interface LiveSession extends Session {
  expiresAt: Date;
  /** Version of the user's row, changed by every update: the `ver` claim of a JWT. */
  version: number;
}

interface Row {
  session_id: string;
  expires_at: Date;
  user_id: string;
  /** A 64-bit number, as text. */
  version: string;
  email: string;
  name: string;
  fields: Record<string, unknown>;
}

export class SessionStore {
  readonly #pool: pg.Pool;
  readonly #library: Library;
  readonly #fields: AdditionalFields;
  readonly #verified: VerifiedTokens;

  constructor(pool: pg.Pool, library: Library, fields: AdditionalFields, verified: VerifiedTokens) {
    this.#pool = pool;
    this.#library = library;
    this.#fields = fields;
    this.#verified = verified;
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
    const session = {
      id: row.session_id,
      expiresAt: row.expires_at,
      version: Number(row.version),
      user: {
        ...readFields(this.#fields, row.fields, columnOf),
        id: row.user_id,
        email: row.email,
        name: row.name,
      },
    };
    const { expiresIn, updateAge } = this.#library.context.sessionConfig;
    const due = row.expires_at.getTime() - (expiresIn - updateAge) * 1000 <= Date.now();
    return due ? this.#slide(token, session) : session;
  }

  async #slide(token: string, session: LiveSession): Promise<LiveSession> {
    const { internalAdapter, sessionConfig } = this.#library.context;
    const now = Date.now();
    const expiresAt = new Date(now + sessionConfig.expiresIn * 1000);
    await internalAdapter.updateSession(token, { expiresAt, updatedAt: new Date(now) });
    return { ...session, expiresAt };
  }

  /** Whether a session is still valid. @param id of its row, not its token */
  async has(id: string): Promise<boolean> {
    const [row] = await runStatement<{ has: boolean }>(this.#pool, {
      name: "svc_has_session",
      repeatable: true,
      text: "select auth.has_session($1) as has",
      values: [id],
    });
    return row?.has === true;
  }

  /**
   * Ends a session and, in this process, its JWTs at once; other processes are notified. An unknown token is not an
   * error.
   */
  async end(token: string): Promise<void> {
    const row = await this.#read(token);
    await this.#library.context.internalAdapter.deleteSession(token);
    if (row) this.#verified.forget(row.user_id, row.session_id);
  }

  async #read(token: string): Promise<Row | undefined> {
    const [row] = await runStatement<Row>(this.#pool, {
      name: "svc_find_session",
      repeatable: true,
      text: "select session_id, expires_at, user_id, version, email, name, fields from auth.find_session($1)",
      values: [token],
    });
    return row;
  }
}
