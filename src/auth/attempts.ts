/**
 * Limits on attempts: passwords, sign-ups, mails, one-time tokens. Counted in the database, before the attempt is made,
 * for all processes together.
 * Next hop: `sql/auth/take_attempt.sql`; why there: docs/adr/0005-attempts-are-counted-in-sql.md.
 */
import { createHmac } from "node:crypto";
import type pg from "pg";
import type { Logger } from "pino";
import { SvcError } from "../errors/svc-error.ts";
import { ask } from "./ask.ts";
import { networkOf } from "./client-address.ts";
import { addressHeader } from "./library.ts";

const minutes = 60;

/** How long a window lasts, in seconds. */
const windows = {
  signInsPerAccount: 15 * minutes,
  signInsPerAddress: 15 * minutes,
  signUpsPerAddress: 60 * minutes,
  mailsPerAccount: 60 * minutes,
  mailsPerAddress: 60 * minutes,
  redemptionsPerAddress: 15 * minutes,
} as const;

type Kind = keyof typeof windows;

/** How many in a window; false switches a limit off. Keys of `limits` in svc.config.ts. */
export type AttemptLimits = Readonly<Record<Kind, number | false>>;

interface Counter {
  kind: Kind;
  subject: string;
  /** Counts in place of the subject while it is remembered. */
  known?: string;
}

export interface AttemptsOptions {
  pool: pg.Pool;
  /** The newest: with another one, counting begins anew. */
  secret: string;
  limits: AttemptLimits;
  log: Logger;
}

export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #key: Buffer;

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#key = createHmac("sha256", options.secret).update("svc attempts").digest();
  }

  /**
   * Tries a password. A wrong one stays counted; any other outcome says nothing about it and is taken back.
   *
   * @param email normalised, whether or not there is such an account
   * @param about from `about()`: where it comes from
   * @param proves whether success proves that who asks is the owner (Default: true)
   * @throws SvcError RATE_LIMITED without trying; what `check` throws, INVALID_CREDENTIALS for a wrong password
   */
  async password<T>(email: string, about: Headers, check: () => Promise<T>, proves = true): Promise<T> {
    const known = this.#known(email, about);
    const receipt = await this.#take([
      { kind: "signInsPerAccount", subject: this.#hash(email), known },
      { kind: "signInsPerAddress", subject: networkIn(about) },
    ]);
    try {
      const result = await check();
      await this.#giveBack(receipt);
      if (proves) await this.succeeded(email, about);
      return result;
    } catch (error) {
      if (!(error instanceof SvcError && error.code === "INVALID_CREDENTIALS")) await this.#giveBack(receipt);
      throw error;
    }
  }

  /** Whoever comes from there with this account has proved to be its owner: strangers do not lock them out there. */
  async succeeded(email: string, about: Headers): Promise<void> {
    if (this.#options.limits.signInsPerAccount === false) return;
    await this.#quietly({
      name: "svc_remember_address",
      text: "select auth.remember_address($1, $2)",
      values: ["signInsPerAccount" satisfies Kind, this.#known(email, about)],
    });
  }

  /** @throws SvcError RATE_LIMITED */
  async signUp(about: Headers): Promise<void> {
    await this.#take([{ kind: "signUpsPerAddress", subject: networkIn(about) }]);
  }

  /**
   * Counts a mail that somebody asks for, whether or not there is such an account.
   *
   * @throws SvcError RATE_LIMITED
   */
  async mail(email: string, about: Headers): Promise<void> {
    await this.#take([
      { kind: "mailsPerAccount", subject: this.#hash(email) },
      { kind: "mailsPerAddress", subject: networkIn(about) },
    ]);
  }

  /** Counts a mail that comes with something else, which has a limit of its own and must not fail. False: better not. */
  async mayMail(email: string): Promise<boolean> {
    try {
      await this.#take([{ kind: "mailsPerAccount", subject: this.#hash(email) }]);
      return true;
    } catch (err) {
      if (!(err instanceof SvcError)) this.#options.log.error({ err }, "a mail could not be counted, and is not sent");
      return false;
    }
  }

  /**
   * Redeems a one-time token. A bad one stays counted.
   *
   * @param redeem throws an error of the caller (4xx) for a bad token
   * @throws SvcError RATE_LIMITED without trying; what `redeem` throws
   */
  async redeem<T>(about: Headers, redeem: () => Promise<T>): Promise<T> {
    const receipt = await this.#take([{ kind: "redemptionsPerAddress", subject: networkIn(about) }]);
    try {
      const result = await redeem();
      await this.#giveBack(receipt);
      return result;
    } catch (error) {
      if (!(error instanceof SvcError) || error.status >= 500) await this.#giveBack(receipt);
      throw error;
    }
  }

  /** @returns a receipt for `#giveBack`; null when nothing is limited */
  async #take(counters: Counter[]): Promise<object | null> {
    const { limits, pool } = this.#options;
    const limited = counters.filter(({ kind }) => limits[kind] !== false);
    if (limited.length === 0) return null;
    const [row] = await ask<{ wait_seconds: number; receipt: object }>(pool, {
      name: "svc_take_attempt",
      text: "select wait_seconds, receipt from auth.take_attempt($1, $2, $3, $4, $5)",
      values: [
        limited.map(({ kind }) => kind),
        limited.map(({ subject }) => subject),
        limited.map(({ known }) => known ?? null),
        limited.map(({ kind }) => limits[kind]),
        limited.map(({ kind }) => windows[kind]),
      ],
    });
    if (!row) throw new Error("auth.take_attempt() gave no row.");
    if (row.wait_seconds === 0) return row.receipt;
    throw new SvcError("RATE_LIMITED", "Too many attempts. Try again later.", { retryAfter: row.wait_seconds });
  }

  async #giveBack(receipt: object | null): Promise<void> {
    if (receipt === null) return;
    await this.#quietly({
      name: "svc_give_back_attempt",
      text: "select auth.give_back_attempt($1)",
      values: [JSON.stringify(receipt)],
    });
  }

  /** What was decided stands, also when the counter cannot follow: it is then one too high until its window ends. */
  async #quietly(question: Parameters<typeof ask>[1]): Promise<void> {
    try {
      await ask(this.#options.pool, question);
    } catch (err) {
      this.#options.log.warn({ err }, "an attempt could not be taken back");
    }
  }

  #known(email: string, about: Headers): string {
    return `${this.#hash(email)}@${networkIn(about)}`;
  }

  /** Under a key, so that the table does not tell, not even by trying, which addresses were tried. */
  #hash(email: string): string {
    return createHmac("sha256", this.#key).update(email).digest("base64url");
  }
}

const networkIn = (about: Headers): string => networkOf(about.get(addressHeader));
