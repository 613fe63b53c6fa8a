/**
 * Finds the user of an API key. A key with a wrong checksum costs no statement. All other unknown keys together cost one
 * statement at a time: requests that come meanwhile wait for the next one. So a flood of invented keys takes one connection,
 * and locks nobody out. Known keys are cached as session tokens are (`../sessions/verified-tokens.ts`).
 * Next hop: `sql/auth/find_api_keys.sql`.
 */
import type pg from "pg";
import type { Logger } from "pino";
import type { ApiKeyOptions } from "../../contract/auth.ts";
import { hashOf, isKey } from "../../kit/key-format.ts";
import { oneAtATime } from "../../kit/one-at-a-time.ts";
import { RecentMap } from "../../kit/recent-map.ts";
import type { Session } from "../../kit/session.ts";
import { askAuth } from "../ask-auth.ts";
import type { Verified, VerifiedTokens } from "../sessions/verified-tokens.ts";
import { type AdditionalFields, type UserRow, userOf } from "../user-fields.ts";

interface KeyLookupOptions {
  apiKeys: ApiKeyOptions;
  pool: pg.Pool;
  fields: AdditionalFields;
  verified: VerifiedTokens;
  log: Logger;
}

interface Row extends UserRow {
  hash: Buffer;
  key_id: string;
  scopes: string[];
  expires_at: Date;
  user_id: string;
  is_due: boolean;
}

interface Waiting {
  promise: Promise<Row | undefined>;
  resolve(row: Row | undefined): void;
  reject(error: unknown): void;
}

/** In milliseconds: how long a key is known. Then its row is read again. */
const knownFor = 5 * 60_000;
/** Unknown keys that are remembered as such. */
const maxUnknown = 10_000;
/** In milliseconds: for how long. The end of a ban by time makes its keys valid and sends no notice. */
const unknownFor = 5_000;
/** Hashes in one statement. */
const maxAsked = 500;

export class KeyLookup {
  readonly prefix: string;
  readonly #options: KeyLookupOptions;
  /** By hash: when it was asked for, and the number of ended sessions then, since a notice can make a key valid. */
  readonly #unknown = new RecentMap<string, { endings: number; at: number }>(maxUnknown);
  /** By hash: what the next statement asks for. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #askAll = oneAtATime(() => this.#ask());
  readonly #noting = new Set<Promise<void>>();

  constructor(options: KeyLookupOptions) {
    this.#options = options;
    this.prefix = options.apiKeys.prefix;
  }

  /**
   * The session that stands for the calls of a key that is not cached.
   *
   * @returns null for a key that is misspelt, unknown, expired or revoked, and for one of a banned user: all alike
   * @throws SvcError UNAVAILABLE when the database cannot be reached
   */
  async find(key: string): Promise<Session | null> {
    const { verified } = this.#options;
    if (!isKey(key, this.prefix)) return null;
    const hash = hashOf(key).toString("base64");
    const { endings } = verified;
    const at = performance.now();
    const unknown = this.#unknown.get(hash);
    if (verified.isTrusted && unknown?.endings === endings && at - unknown.at < unknownFor) return null;
    return verified.lookUp(key, async () => {
      const row = await this.#row(hash);
      if (row) return this.#open(row);
      this.#unknown.set(hash, { endings, at });
      return null;
    });
  }

  #open(row: Row): Verified {
    const { apiKeys, fields } = this.#options;
    if (row.is_due) this.#note(row.key_id);
    // A scope that is no longer declared is lost.
    const scopes = Object.freeze(row.scopes.filter((scope) => apiKeys.scopes.includes(scope)));
    const id = row.key_id;
    const user = userOf(fields, row.user_id, row);
    const session = Object.freeze({ id, user, key: Object.freeze({ id, scopes }) });
    return { session, expiresAt: Math.min(row.expires_at.getTime(), Date.now() + knownFor) };
  }

  /** Waits for what is being noted. */
  async close(): Promise<void> {
    await Promise.all(this.#noting);
  }

  #row(hash: string): Promise<Row | undefined> {
    const waiting = this.#waiting.get(hash) ?? Promise.withResolvers<Row | undefined>();
    this.#waiting.set(hash, waiting);
    void this.#askAll();
    return waiting.promise;
  }

  /** Asks until nobody waits, one statement after the other. */
  async #ask(): Promise<void> {
    while (this.#waiting.size > 0) {
      const asked = [...this.#waiting].slice(0, maxAsked);
      for (const [hash] of asked) this.#waiting.delete(hash);
      try {
        const hashes = asked.map(([hash]) => Buffer.from(hash, "base64"));
        const rows = await askAuth<Row>(this.#options.pool, "* from auth.find_api_keys($1)", [hashes]);
        const found = new Map(rows.map((row) => [row.hash.toString("base64"), row]));
        for (const [hash, { resolve }] of asked) resolve(found.get(hash));
      } catch (error) {
        for (const [, { reject }] of asked) reject(error);
      }
    }
  }

  /** No request waits for it. */
  #note(id: string): void {
    const noting = askAuth(this.#options.pool, "auth.note_api_key_use($1)", [id])
      .then(() => {})
      .catch((err: unknown) => this.#options.log.debug({ err }, "the use of an API key could not be noted"))
      .finally(() => this.#noting.delete(noting));
    this.#noting.add(noting);
  }
}
