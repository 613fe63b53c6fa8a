/**
 * Counts attempts in the database, for all processes together.
 * Next hop: `sql/auth/take_attempt.sql`; why there: docs/adr/0005-attempts-are-counted-in-sql.md.
 */
import type pg from "pg";
import type { Logger } from "pino";
import { SvcError } from "../../kit/svc-error.ts";
import { askAuth, askAuthOn } from "../ask-auth.ts";

/** Length of a window, in seconds. */
const windows = {
  signInsPerAccount: 15 * 60,
  signInsPerAddress: 15 * 60,
  passwordsPerAccount: 15 * 60,
  passwordsPerAddress: 15 * 60,
  signUpsPerAddress: 60 * 60,
  mailsPerAccount: 60 * 60,
  mailsPerAddress: 60 * 60,
  mails: 60 * 60,
  texts: 60 * 60,
  redemptionsPerAddress: 15 * 60,
} as const;

export type Kind = keyof typeof windows;

/** Attempts per window; false switches a limit off. Keys of `limits` in svc.config.ts. */
export type AttemptLimits = Readonly<Record<Kind, number | false>>;

export interface Counter {
  kind: Kind;
  subject: string;
  /** Counted instead of the subject while this value is remembered; for `mails` and `texts`, all such values are one count. */
  known?: string;
}

/** From auth.take_attempt(), for auth.give_back_attempt(). */
export interface Receipt {
  counted: { kind: Kind; subject: string }[];
  at: string;
  /** The limits that refused it; an earlier version of the function does not say. */
  reached?: Kind[];
}

export interface AttemptCountersOptions {
  pool: pg.Pool;
  limits: AttemptLimits;
  log: Logger;
}

/** Limits of all callers together, and what they count. */
const ofAll = { mails: "mails", texts: "text messages" } as const;

export class AttemptCounters {
  readonly #options: AttemptCountersOptions;
  /** Until when the operator knows that a limit of all is reached, in milliseconds of the epoch. */
  readonly #told = new Map<Kind, number>();

  constructor(options: AttemptCountersOptions) {
    this.#options = options;
  }

  /**
   * Counts an attempt under all counters, or under none of them.
   *
   * @param client counts with this connection, in its transaction if it has one (Default: a connection of the pool)
   * @returns a receipt for `giveBack`; null when nothing is limited
   * @throws SvcError RATE_LIMITED
   */
  async take(counters: readonly Counter[], client?: pg.ClientBase): Promise<Receipt | null> {
    const { limits, pool } = this.#options;
    const limited = counters.filter(({ kind }) => limits[kind] !== false);
    if (limited.length === 0) return null;
    const what = "wait_seconds, receipt from auth.take_attempt($1, $2, $3, $4, $5)";
    const values = [
      limited.map(({ kind }) => kind),
      limited.map(({ subject }) => subject),
      limited.map(({ known }) => known ?? null),
      limited.map(({ kind }) => limits[kind]),
      limited.map(({ kind }) => windows[kind]),
    ];
    const [row] = await (client ? askAuthOn<Taken>(client, what, values) : askAuth<Taken>(pool, what, values));
    if (row?.wait_seconds === 0) return row.receipt;
    const { wait_seconds: retryAfter = 1, receipt } = row ?? {};
    const reached = receipt?.reached ?? limited.map(({ kind }) => kind);
    const inAll = (["mails", "texts"] as const).find((kind) => receipt?.reached?.includes(kind));
    if (inAll) this.#tell(inAll, retryAfter);
    const message = inAll ? `The service sends no more ${ofAll[inAll]} for now.` : "Too many attempts.";
    throw new SvcError("RATE_LIMITED", `${message} Try again later.`, {
      retryAfter,
      cause: [...new Set(reached)].map((kind) => `limits.${kind}`).join(" or "),
    });
  }

  /** One line for each window. */
  #tell(kind: keyof typeof ofAll, seconds: number): void {
    const { limits, log } = this.#options;
    if ((this.#told.get(kind) ?? 0) > Date.now()) return;
    this.#told.set(kind, Date.now() + seconds * 1000);
    const about = { limit: `limits.${kind}`, most: limits[kind], retryAfter: seconds };
    log.error(about, `${ofAll[kind]} are refused until the hour ends: the limit of all callers together is reached`);
  }

  /** @param kept kinds that stay counted (Default: none) */
  async giveBack(receipt: Receipt | null, kept: ReadonlySet<Kind> = new Set()): Promise<void> {
    const text = receipt && textOf(receipt, kept);
    if (text === null) return;
    await this.quietly("auth.give_back_attempt($1)", [text]);
  }

  /** The decision stands even if the counter cannot be updated; it is then one too high until its window ends. */
  async quietly(what: string, values: unknown[]): Promise<void> {
    try {
      await askAuth(this.#options.pool, what, values);
    } catch (err) {
      this.#options.log.warn({ err }, "an attempt could not be taken back");
    }
  }
}

interface Taken {
  wait_seconds: number;
  receipt: Receipt;
}

/** The part of a receipt that is given back; null when all of it stays counted. */
export function textOf(receipt: Receipt, kept: ReadonlySet<Kind>): string | null {
  const counted = receipt.counted.filter(({ kind }) => !kept.has(kind));
  return counted.length > 0 ? JSON.stringify({ ...receipt, counted }) : null;
}
