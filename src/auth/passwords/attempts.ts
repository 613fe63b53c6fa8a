/**
 * Limits on attempts: passwords, sign-ups, mails, one-time tokens. Each is counted before the attempt.
 * Next hop: `attempt-counters.ts` counts.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHmac } from "node:crypto";
import type pg from "pg";
import { networkOf } from "../../http/client-address.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { currentCaller } from "../caller.ts";
import { addressHeader } from "../library-types.ts";
import {
  AttemptCounters,
  type AttemptCountersOptions,
  type Counter,
  type Kind,
  type Receipt,
  textOf,
} from "./attempt-counters.ts";
import { isTelephone, mailboxOf } from "./recipients.ts";

/** For these kinds successes stay counted too: a right password costs as much processor time as a wrong one. */
const ofAllPasswords: ReadonlySet<Kind> = new Set<Kind>(["passwordsPerAccount", "passwordsPerAddress"]);

/** A counted guess while it is compared. */
export interface Guess {
  /** Stored hashes of the accounts that it was counted for; "all" when it covers every comparison. */
  hashes: ReadonlySet<string> | "all";
  /** Whether a wrong password was compared. */
  wasWrong: boolean;
  /** The stored hash that was compared last. */
  compared?: string;
  /** Of its counters; null when nothing is limited, or when they are settled. */
  receipt: Receipt | null;
}

export interface GuessOptions {
  /** Whether a password is hashed for it (Default: true) */
  hashes?: boolean;
  /** See `Guess` (Default: "all") */
  counted?: Guess["hashes"];
}

const guesses = new AsyncLocalStorage<Guess>();

/** True inside a sign-up, which is counted before its password is hashed. */
const signingUp = new AsyncLocalStorage<true>();

export interface AttemptsOptions extends AttemptCountersOptions {
  /** The newest secret. Another secret starts new counters. */
  secret: string;
}

export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #counters: AttemptCounters;
  readonly #key: Buffer;

  constructor(options: AttemptsOptions) {
    this.#options = options;
    this.#counters = new AttemptCounters(options);
    this.#key = createHmac("sha256", options.secret).update("svc attempts").digest();
  }

  /**
   * Tries a password. A wrong one stays counted; any other outcome gives the attempt back.
   *
   * @param email normalised, whether or not it has an account
   * @param about from `about()`: browser and address
   * @throws SvcError RATE_LIMITED without trying; errors of `check`, INVALID_CREDENTIALS for a wrong password
   */
  async password<T>(email: string, about: Headers, check: () => Promise<T>): Promise<T> {
    const result = await this.guess([email], about, check);
    await this.succeeded(email, about);
    return result;
  }

  /**
   * Tries a password or a code that may belong to several accounts, and counts it for all of them.
   *
   * @param accounts at least one: a normalised e-mail address, or another name
   * @throws SvcError RATE_LIMITED without trying; errors of `check`, INVALID_CREDENTIALS for a wrong one
   */
  async guess<T>(
    accounts: readonly string[],
    about: Headers,
    check: (guess: Guess) => Promise<T>,
    { hashes = true, counted = "all" }: GuessOptions = {},
  ): Promise<T> {
    const network = networkIn(about);
    const counters: Counter[] = [{ kind: "signInsPerAddress", subject: network }];
    if (hashes) counters.push({ kind: "passwordsPerAddress", subject: network });
    for (const account of new Set(accounts)) {
      const subject = this.#hash(account);
      counters.push({ kind: "signInsPerAccount", subject, known: this.#known(account, about) });
      if (hashes) counters.push({ kind: "passwordsPerAccount", subject });
    }
    return this.#compare(counters, counted, check);
  }

  /**
   * Compares a password with a stored hash. `guess` has already counted it for its accounts. A hash of any other
   * account is counted here, by the hash.
   *
   * @throws SvcError RATE_LIMITED without comparing
   */
  async comparison(hash: string, verify: () => Promise<boolean>): Promise<boolean> {
    const guess = guesses.getStore();
    if (guess) guess.compared = hash;
    const compare = async (counted: Guess) => {
      const isRight = await verify();
      if (!isRight) counted.wasWrong = true;
      return isRight;
    };
    if (guess && (guess.hashes === "all" || guess.hashes.has(hash))) return compare(guess);
    const network = currentCaller()?.network ?? networkOf(null);
    const counters: Counter[] = [
      { kind: "signInsPerAccount", subject: this.#hash(`hash ${hash}`) },
      { kind: "signInsPerAddress", subject: network },
    ];
    const isRight = await this.#compare(counters, "all", compare);
    if (guess && !isRight) guess.wasWrong = true;
    return isRight;
  }

  async #compare<T>(counters: Counter[], hashes: Guess["hashes"], check: (guess: Guess) => Promise<T>): Promise<T> {
    const guess: Guess = { hashes, wasWrong: false, receipt: await this.#counters.take(counters) };
    try {
      const result = await guesses.run(guess, check, guess);
      // A request may succeed although it contained a wrong password.
      if (!guess.wasWrong) await this.#counters.giveBack(guess.receipt, ofAllPasswords);
      return result;
    } catch (error) {
      const code = error instanceof SvcError ? error.code : undefined;
      // UNAVAILABLE: the queue was full or the client left, and nothing was hashed.
      const kept = code === "UNAVAILABLE" ? undefined : ofAllPasswords;
      if (!guess.wasWrong && code !== "INVALID_CREDENTIALS") await this.#counters.giveBack(guess.receipt, kept);
      throw error;
    }
  }

  /**
   * The last arguments of auth.open_session(), which settles the counters of a right password: it gives the attempt
   * back, and remembers the address as `succeeded` does.
   */
  settlement(
    { receipt, wasWrong }: Guess,
    email: string,
    about: Headers,
  ): [receipt: string | null, Kind, known: string | null] {
    const kind = "signInsPerAccount";
    const known = this.#options.limits[kind] === false ? null : this.#known(email, about);
    return [receipt && !wasWrong ? textOf(receipt, ofAllPasswords) : null, kind, known];
  }

  /**
   * Remembers that the owner of this account has signed in from this address. Failed attempts of others then do not
   * lock the owner out there.
   */
  async succeeded(email: string, about: Headers): Promise<void> {
    if (this.#options.limits.signInsPerAccount === false) return;
    const values = ["signInsPerAccount" satisfies Kind, this.#known(email, about)];
    await this.#counters.quietly("auth.remember_address($1, $2)", values);
  }

  /**
   * Counts a sign-up, and makes it. `newUser` does not count its user again.
   *
   * @throws SvcError RATE_LIMITED without making it; errors of `make`
   */
  async signUp<T>(about: Headers, make: () => Promise<T>): Promise<T> {
    await this.#counters.take([{ kind: "signUpsPerAddress", subject: networkIn(about) }]);
    return signingUp.run(true, make);
  }

  /**
   * Counts a user that is written by anything but a sign-up: an endpoint of a plugin, a social sign-in. Trusted code runs
   * outside of a request and is not limited.
   *
   * @param client the connection that writes the user. In a transaction, all connections of the pool may be taken
   * @throws SvcError RATE_LIMITED
   */
  async newUser(client: pg.ClientBase): Promise<void> {
    const caller = currentCaller();
    if (!caller || signingUp.getStore()) return;
    const counted = this.#counters.take([{ kind: "signUpsPerAddress", subject: caller.network }], client);
    await counted.catch((error: unknown) => {
      if (error instanceof SvcError) caller.retryAfter = error.retryAfter;
      throw error;
    });
  }

  /**
   * Counts requested mails and text messages, whether or not the recipients have accounts. Those of an account on a network
   * where it has signed in are apart from all others in the limits of all callers together.
   *
   * @param names normalised addresses, and telephones by `telephoneOf`
   * @param about null: only the recipients are limited, not who asks
   * @param accounts as for `guess` (Default: the names)
   * @throws SvcError RATE_LIMITED
   */
  async mail(names: readonly string[], about: Headers | null, accounts = names): Promise<void> {
    const [account, ...others] = new Set(accounts);
    const isOne = about !== null && account !== undefined && others.length === 0;
    const known = isOne ? { known: this.#known(account, about) } : {};
    const counters = [...new Set(names.map(mailboxOf))].flatMap((name): Counter[] => [
      { kind: "mailsPerAccount", subject: this.#hash(name) },
      { kind: isTelephone(name) ? "texts" : "mails", subject: "all", ...known },
    ]);
    if (about) counters.push({ kind: "mailsPerAddress", subject: networkIn(about) });
    await this.#counters.take(counters);
  }

  /** Counts a mail that accompanies another action, which has its own limit and must not fail. False: do not send it. */
  async mayMail(email: string): Promise<boolean> {
    try {
      await this.mail([email], null);
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
    const receipt = await this.#counters.take([{ kind: "redemptionsPerAddress", subject: networkIn(about) }]);
    try {
      const result = await redeem();
      await this.#counters.giveBack(receipt);
      return result;
    } catch (error) {
      if (!(error instanceof SvcError) || error.status >= 500) await this.#counters.giveBack(receipt);
      throw error;
    }
  }

  readonly #known = (email: string, about: Headers): string => `${this.#hash(email)}@${networkIn(about)}`;

  /** A keyed hash, so that the table does not reveal which addresses were tried, even by guessing. */
  #hash(email: string): string {
    return createHmac("sha256", this.#key).update(email).digest("base64url");
  }
}

const networkIn = (about: Headers): string => networkOf(about.get(addressHeader));
