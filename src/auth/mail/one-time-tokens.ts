/**
 * Tokens that work once: for links in mails and redirects of social sign-in.
 * Next hop: `sql/auth/add_one_time_value.sql`, `sql/auth/take_one_time_value.sql`.
 */
import { createHash, randomBytes } from "node:crypto";
import type pg from "pg";
import { askAuth } from "../ask-auth.ts";

/** The purpose of a token. It is invalid for any other purpose. */
export type Purpose = "verify-email" | "reset-password" | "oauth-state" | "oauth-code" | "realtime-ticket";

/** 32 random bytes in base64url. Any other form is rejected without the database. */
const shape = /^[A-Za-z0-9_-]{43}$/;

const hash = (token: string): string => createHash("sha256").update(token).digest("hex");

export class OneTimeTokens {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * Stores JSON and returns the token that retrieves it.
   *
   * @param seconds lifetime
   * @throws SvcError UNAVAILABLE when the database cannot be reached
   */
  async add(purpose: Purpose, content: object, seconds: number): Promise<string> {
    const token = randomBytes(32).toString("base64url");
    await this.keep(purpose, token, content, seconds);
    return token;
  }

  /** Makes a token valid, also one that was redeemed. @throws SvcError as `add` */
  async keep(purpose: Purpose, token: string, content: object, seconds: number): Promise<void> {
    const values = [purpose, hash(token), JSON.stringify(content), seconds];
    await askAuth(this.#pool, "auth.add_one_time_value($1, $2, $3, $4)", values);
  }

  /**
   * Redeems a token. Of several concurrent calls exactly one succeeds.
   *
   * @param token any value; only strings can be valid
   * @returns null when it is unknown, used, expired, or of another purpose
   * @throws SvcError UNAVAILABLE when the database cannot be reached
   */
  async take<Content extends object>(purpose: Purpose, token: unknown): Promise<Content | null> {
    if (typeof token !== "string" || !shape.test(token)) return null;
    const what = "auth.take_one_time_value($1, $2) as content";
    const [row] = await askAuth<{ content: Content | null }>(this.#pool, what, [purpose, hash(token)]);
    return row?.content ?? null;
  }
}
