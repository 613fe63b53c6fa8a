/**
 * Proofs by mail: verify an address, and reset a forgotten password. Links work once.
 * Next hop: `mails.ts` sends them, `one-time-tokens.ts` stores their content, `src/auth/passwords/passwords.ts`
 * replaces passwords.
 */
import { createHash, randomInt } from "node:crypto";
import { z } from "zod";
import { type OriginPolicy, requireDestination } from "../../http/origin-policy.ts";
import { SvcError } from "../../kit/svc-error.ts";
import type { Library } from "../library-types.ts";
import type { Attempts } from "../passwords/attempts.ts";
import type { Passwords } from "../passwords/passwords.ts";
import { checked, email, passwordRules } from "../passwords/rules.ts";
import type { Mails } from "./mails.ts";
import type { OneTimeTokens } from "./one-time-tokens.ts";

export interface MailLinksOptions {
  library: Library;
  passwords: Passwords;
  attempts: Attempts;
  once: OneTimeTokens;
  mails: Mails;
  origins: OriginPolicy;
}

/** The content of a mail's token. It is valid for this user while this is the address. */
interface Proof {
  userId: string;
  email: string;
}

/** A reset replaces the password that was forgotten, not a later one. */
interface Reset extends Proof {
  /** Digest of its hash; null when there is none. */
  old: string | null;
  /** When the token expires, in milliseconds of the epoch. */
  until: number;
}

type Addressee = { id: string; email: string; emailVerified: boolean };

/** In seconds. */
const lifetimes = { verification: 24 * 60 * 60, reset: 60 * 60 };

/**
 * In milliseconds: the work of a reset starts after a random delay of at most this. Without it, the timing of the next
 * answer would reveal whether an address has an account.
 */
const longestDelay = 1000;

export class MailLinks {
  readonly #options: MailLinksOptions;
  readonly #reset;

  constructor(options: MailLinksOptions) {
    this.#options = options;
    const { newPassword } = passwordRules(options.library);
    this.#reset = z.object({ token: z.string("The token must be a text."), newPassword }, "Send an object.");
  }

  /** Whether a password opens no session before the address is verified. */
  get isRequired(): boolean {
    return this.#options.library.context.options.emailAndPassword?.requireEmailVerification === true;
  }

  /**
   * Sends a verification mail with a sign-up or sign-in, and never makes it fail.
   *
   * @param origin of the page to return to (Default: the service's own)
   */
  async mailQuietly(user: Addressee, origin = ""): Promise<void> {
    const { attempts, mails } = this.#options;
    const isWanted = mails.hasMailer("verification") || this.isRequired;
    if (!isWanted || user.emailVerified || !(await attempts.mayMail(user.email))) return;
    this.#mailVerification(user, `${origin}/`);
  }

  /**
   * Sends a verification mail at the user's request.
   *
   * @throws SvcError VALIDATION_FAILED, BAD_REQUEST for a `callbackURL` elsewhere, FORBIDDEN without a mailer,
   *   RATE_LIMITED, UNAUTHORIZED when the user no longer exists
   */
  async requestVerification(userId: string, input: unknown, about: Headers): Promise<void> {
    const { attempts, library, mails, origins } = this.#options;
    const { callbackURL = "/" } = await checked(verificationRequest, input);
    requireDestination(origins, "callbackURL", callbackURL);
    mails.require("verification");
    const user = await library.context.internalAdapter.findUserById(userId);
    if (!user) throw new SvcError("UNAUTHORIZED");
    if (user.emailVerified) return;
    await attempts.mail([user.email], about);
    this.#mailVerification(user, callbackURL);
  }

  /**
   * Redeems the token of a verification mail.
   *
   * @throws SvcError BAD_REQUEST when it is invalid, used or expired; RATE_LIMITED
   */
  async verify(token: unknown, about: Headers): Promise<void> {
    const { attempts, library, once } = this.#options;
    const { internalAdapter } = library.context;
    await attempts.redeem(about, async () => {
      const proof = await once.take<Proof>("verify-email", token);
      const user = proof && (await internalAdapter.findUserById(proof.userId));
      // The address may have changed since. The mail proved only the address that it was sent to.
      if (!user || user.email !== proof.email) throw spent();
      if (user.emailVerified) return;
      await library.transaction(async () => {
        const verified = await internalAdapter.updateUser(user.id, { emailVerified: true });
        // The update may have waited for one that changes the address.
        if (verified?.email !== proof.email) throw spent();
      });
    });
  }

  /**
   * Requests a mail to reset the password. Neither the answer nor its timing reveals whether the account exists.
   *
   * @throws SvcError VALIDATION_FAILED, BAD_REQUEST for a `redirectTo` elsewhere, FORBIDDEN without a mailer, RATE_LIMITED
   */
  async requestReset(input: unknown, about: Headers): Promise<void> {
    const { attempts, mails, origins } = this.#options;
    const body = await checked(resetRequest, input);
    const page = requireDestination(origins, "redirectTo", body.redirectTo);
    mails.require("password reset");
    await attempts.mail([body.email], about);
    mails.later("password reset", () => this.#resetMail(body.email, page), randomInt(longestDelay));
  }

  /**
   * Redeems the token of a reset mail: sets the password and ends all sessions. The token also proves the mailbox, so
   * the address becomes verified.
   *
   * @throws SvcError VALIDATION_FAILED, and what a plugin says that refuses the password: both leave the token usable;
   *   BAD_REQUEST when it is invalid, used or expired; RATE_LIMITED
   */
  async reset(input: unknown, about: Headers): Promise<void> {
    const { attempts, library, once, passwords } = this.#options;
    const body = await checked(this.#reset, input);
    const address = await attempts.redeem(about, () =>
      // Enters the hash queue before taking the token: when the queue is full, the token stays usable.
      passwords.hashQueue.run(async () => {
        const kept = await once.take<Reset>("reset-password", body.token);
        const user = kept && (await library.context.internalAdapter.findUserById(kept.userId));
        if (!user || user.email !== kept.email) throw spent();
        const old = await passwords.hashOf(user.id);
        if (digest(old) !== kept.old) throw spent();
        const hash = await passwords.hash(body.newPassword).catch(async (error) => {
          const seconds = Math.floor((kept.until - Date.now()) / 1000);
          if (seconds > 0) await once.keep("reset-password", body.token, kept, seconds);
          throw error;
        });
        if (!(await passwords.replace(user.id, { old, hash, proves: kept.email }))) throw spent();
        return user.email;
      }),
    );
    await attempts.succeeded(address, about);
  }

  #mailVerification({ id: userId, email }: Addressee, callbackURL: string): void {
    const { mails, once, origins } = this.#options;
    mails.later("verification", async () => {
      const token = await once.add("verify-email", { userId, email } satisfies Proof, lifetimes.verification);
      const url = new URL("/api/auth/verify-email", origins.own);
      url.search = new URLSearchParams({ token, callbackURL }).toString();
      return { email, url: url.href };
    });
  }

  async #resetMail(address: string, page: URL) {
    const { library, once, passwords } = this.#options;
    const found = await library.context.internalAdapter.findUserByEmail(address);
    if (!found) return null;
    const { id: userId, email } = found.user;
    const old = digest(await passwords.hashOf(userId));
    const until = Date.now() + lifetimes.reset * 1000;
    const kept = { userId, email, old, until } satisfies Reset;
    const url = new URL(page);
    url.searchParams.set("token", await once.add("reset-password", kept, lifetimes.reset));
    return { email, url: url.href };
  }
}

const verificationRequest = z.object(
  { callbackURL: z.string("callbackURL must be a text.").optional() },
  "Send an object.",
);
const resetRequest = z.object({ email, redirectTo: z.string("redirectTo must be a text.") }, "Send an object.");

const digest = (hash: string | null): string | null =>
  hash === null ? null : createHash("sha256").update(hash).digest("base64url");

const spent = () =>
  new SvcError("BAD_REQUEST", "This link is unknown, used or expired.", { hint: "Ask for another mail." });
