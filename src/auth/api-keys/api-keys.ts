/**
 * API keys of a user: create, list, revoke. Only the user's own session may, never a key.
 * Next hop: `sql/auth/add_api_key.sql`; `key-lookup.ts` finds the user of a key.
 */
import type pg from "pg";
import { z } from "zod";
import type { ApiKeyOptions } from "../../contract/auth.ts";
import { hashOf, keyLimits, makeKey, startOf } from "../../kit/key-format.ts";
import type { Session } from "../../kit/session.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { runStatement } from "../../postgres/run-statement.ts";
import { askAuth } from "../ask-auth.ts";
import { checked, nameRule } from "../passwords/rules.ts";

/** An API key in lists: everything but the key. */
export interface ListedKey {
  id: string;
  name: string;
  /** The prefix and the first characters. */
  start: string;
  scopes: string[];
  createdAt: string;
  expiresAt: string;
  /** At most ten minutes old, and null before the first use. */
  lastUsedAt: string | null;
}

interface Row {
  id: string;
  name: string;
  start: string;
  scopes: string[];
  created_at: Date;
  expires_at: Date;
  last_used_at: Date | null;
}

interface Added extends Pick<Row, "id" | "created_at" | "expires_at"> {
  refused: "ended" | "impersonated" | "many" | null;
}

export class ApiKeys {
  readonly #pool: pg.Pool;
  readonly #options: ApiKeyOptions;
  readonly #input;

  constructor(pool: pg.Pool, options: ApiKeyOptions) {
    this.#pool = pool;
    this.#options = options;
    const days = `expiresInDays must be a whole number from 1 to ${keyLimits.maxDays}.`;
    this.#input = z.strictObject(
      {
        name: nameRule.pipe(z.string().max(100, "The name is longer than 100 characters.")),
        scopes: z
          .array(
            z.enum(options.scopes as [string, ...string[]], `A scope must be one of ${options.scopes.join(", ")}.`),
          )
          .min(1, "A key without a scope could do nothing."),
        expiresInDays: z.int(days).min(1, days).max(keyLimits.maxDays, days).default(keyLimits.days),
      },
      "Send { name, scopes, expiresInDays? }.",
    );
  }

  /**
   * Creates a key. Only this answer has it.
   *
   * @throws SvcError VALIDATION_FAILED; UNAUTHORIZED when the session has ended; FORBIDDEN for an administrator who acts as
   *   the user; CONFLICT with too many keys
   */
  async create({ id, user }: Session, input: unknown): Promise<ListedKey & { key: string }> {
    const { name, scopes, expiresInDays } = await checked(this.#input, input);
    const { prefix, maxPerUser = keyLimits.perUser } = this.#options;
    const key = makeKey(prefix);
    const [start, own] = [startOf(key, prefix), [...new Set(scopes)]];
    // Not repeated after a lost connection: the first key may be there, and nobody has it.
    const [added] = await runStatement<Added>(this.#pool, {
      name: "svc_add_api_key",
      text: "select * from auth.add_api_key($1, $2, $3, $4, $5, $6, $7, $8)",
      values: [id, user.id, name, start, hashOf(key), own, `${expiresInDays} days`, maxPerUser],
    });
    if (!added || added.refused) throw refusal(added?.refused ?? null, maxPerUser);
    const row = { ...added, name, start, scopes: own, last_used_at: null };
    return { ...listed(row), key };
  }

  async list({ user }: Session): Promise<ListedKey[]> {
    const what = "* from auth.list_api_keys($1)";
    return (await askAuth<Row>(this.#pool, what, [user.id])).map(listed);
  }

  /**
   * Revokes a key, or all of the user's.
   *
   * @throws SvcError NOT_FOUND for the key of another user as for an unknown one
   */
  async revoke({ user }: Session, id: string | null): Promise<number> {
    const what = "auth.remove_api_keys($1, $2) as removed";
    const [row] = await askAuth<{ removed: number }>(this.#pool, what, [user.id, id]);
    if (id !== null && row?.removed === 0) throw new SvcError("NOT_FOUND", "There is no such API key of yours.");
    return row?.removed ?? 0;
  }
}

function refusal(refused: Added["refused"], most: number): SvcError {
  if (refused === "many") {
    return new SvcError("CONFLICT", `You have ${most} API keys.`, { hint: "Revoke one that is no longer used." });
  }
  if (refused === "impersonated") {
    return new SvcError("FORBIDDEN", "An administrator who acts as a user cannot create API keys for the user.");
  }
  return new SvcError("UNAUTHORIZED", "The session has ended. Sign in again.");
}

const listed = ({ id, name, start, scopes, created_at, expires_at, last_used_at }: Row): ListedKey => ({
  id,
  name,
  start,
  scopes,
  createdAt: created_at.toISOString(),
  expiresAt: expires_at.toISOString(),
  lastUsedAt: last_used_at?.toISOString() ?? null,
});
