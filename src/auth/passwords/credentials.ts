/**
 * Sign-up and sign-in by e-mail and password: validates the input, calls the library and translates its errors.
 * Next hop: better-auth's `signUpEmail` and `signInEmail`, through `src/auth/library.ts`.
 */
import { isAPIError } from "better-auth/api";
import { z } from "zod";
import type { ErrorCode } from "../../kit/error-codes.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { splitSession, withoutAccounts } from "../library-cookies.ts";
import type { Library } from "../library-types.ts";
import type { MailLinks } from "../mail/mail-links.ts";
import { refusalOf } from "../refusals.ts";
import type { Opened, SessionStore } from "../sessions/session-store.ts";
import type { Attempts } from "./attempts.ts";
import type { Passwords } from "./passwords.ts";
import { checked, email, nameRule, passwordRules } from "./rules.ts";
import { complete } from "./second-factor.ts";

/** Result of a sign-in by password; that of a sign-up is always opened. */
export interface SignIn {
  /** null when a second factor is required. */
  opened: Opened | null;
  /** The library's answer then. */
  challenge?: object;
  /** Other cookies that the library sets, besides the session. */
  cookies: string[];
}

export interface CredentialsOptions {
  library: Library;
  passwords: Passwords;
  attempts: Attempts;
  links: MailLinks;
  sessions: SessionStore;
}

export class Credentials {
  readonly #library: Library;
  readonly #options: CredentialsOptions;
  readonly #signUp;
  readonly #signIn;

  constructor(options: CredentialsOptions) {
    this.#library = options.library;
    this.#options = options;
    const { password, newPassword } = passwordRules(options.library);
    // Unknown keys are dropped, additional fields too, so that clients cannot give themselves roles.
    this.#signUp = z.object({ email, password: newPassword, name: nameRule }, "Send an object.");
    const factor = z.string("It must be a text.").max(100, "It is too long.").optional();
    this.#signIn = z.object({ email, password, code: factor, backupCode: factor }, "Send an object.");
  }

  get enabled(): boolean {
    return this.#library.context.options.emailAndPassword?.enabled === true;
  }

  /**
   * Creates a user with a password, and a session. The verification mail is sent later.
   *
   * @param origin of the requesting page, if redirects to it are allowed
   * @param about from `about()`; with the browser's other cookies
   * @throws SvcError EMAIL_TAKEN, VALIDATION_FAILED, RATE_LIMITED, EMAIL_NOT_VERIFIED where verification is required
   *   first, and errors of the application's hooks
   */
  async signUp(input: unknown, about: Headers, origin?: string): Promise<SignIn & { opened: Opened }> {
    const { attempts, links, sessions } = this.#options;
    const body = await checked(this.#signUp, input);
    const { headers, response } = await attempts.signUp(about, () =>
      this.#call(body.email, () => this.#library.api.signUpEmail({ body, headers: about, returnHeaders: true })),
    );
    const { token, user } = response;
    if (token === null) await this.#requireReal(user.id, body.email);
    await links.mailQuietly(user, origin);
    if (token !== null) await attempts.succeeded(body.email, about);
    const opened = await sessions.opened(this.#requireToken(token));
    return { opened, cookies: splitSession(headers.getSetCookie(), "").others };
  }

  /**
   * Opens a session. Nothing reveals whether an address has an account: either way the same hash is computed and the
   * same attempts are counted.
   *
   * @param input e-mail and password, and `code` or `backupCode` where there is a second factor
   * @param origin of the requesting page, if redirects to it are allowed
   * @param about from `about()`; with the cookies of a trusted device
   * @throws SvcError INVALID_CREDENTIALS, VALIDATION_FAILED, RATE_LIMITED, EMAIL_NOT_VERIFIED after the right password,
   *   and errors of the application's hooks
   */
  async signIn(input: unknown, about: Headers, origin?: string): Promise<SignIn> {
    const { attempts, links, sessions } = this.#options;
    const { code, backupCode, ...body } = await checked(this.#signIn, input);
    try {
      return await attempts.guess([body.email], about, async (guess) => {
        const first = await this.#call(body.email, () =>
          this.#library.api.signInEmail({ body, headers: about, returnHeaders: true }),
        );
        const { compared } = guess;
        const isChallenge = "twoFactorRedirect" in first.response;
        const { others } = splitSession(first.headers.getSetCookie(), "");
        const cookies = isChallenge ? withoutAccounts(others) : others;
        if (isChallenge && code === undefined && backupCode === undefined) {
          // The password was right and is not counted as a failed attempt, but no session is open yet.
          await this.#requirePresent(body.email, compared);
          return { opened: null, challenge: first.response, cookies };
        }
        const token = isChallenge
          ? await complete(this.#library, cookies, { code, backupCode }, about).catch(async (error) => {
              throw await this.#translate(error, body.email);
            })
          : this.#requireToken(first.response.token);
        const opened = await sessions.open(token, compared, attempts.settlement(guess, body.email, about));
        guess.receipt = null;
        return { opened, cookies: isChallenge ? [] : cookies };
      });
    } catch (error) {
      const isUnproved = error instanceof SvcError && error.code === "EMAIL_NOT_VERIFIED";
      const user = isUnproved && (await this.#library.context.internalAdapter.findUserByEmail(body.email))?.user;
      if (user) await links.mailQuietly(user, origin);
      throw error;
    }
  }

  /**
   * The second factor is still to follow, and must not open a session for a password that was replaced meanwhile.
   *
   * @throws SvcError INVALID_CREDENTIALS
   */
  async #requirePresent(address: string, hash: string | undefined): Promise<void> {
    const { internalAdapter } = this.#library.context;
    const found = await internalAdapter.findUserByEmail(address, { includeAccounts: true });
    if (!found?.accounts.some(({ password }) => password === hash)) throw new SvcError("INVALID_CREDENTIALS");
  }

  /** With required verification, the library returns an invented user when it did not create one. */
  async #requireReal(userId: string, address: string): Promise<void> {
    const { internalAdapter } = this.#library.context;
    if (await internalAdapter.findUserById(userId)) return;
    throw new SvcError((await internalAdapter.findUserByEmail(address)) ? "EMAIL_TAKEN" : "FORBIDDEN");
  }

  #requireToken(token: string | null): string {
    if (token !== null) return token;
    if (this.#options.links.isRequired) throw new SvcError("EMAIL_NOT_VERIFIED");
    throw new SvcError("FORBIDDEN", "The account is made. Sign in now."); // autoSignIn: false, by the betterAuth hook
  }

  async #call<Result>(address: string, call: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#options.passwords.hashQueue.run(call);
    } catch (error) {
      throw await this.#translate(error, address);
    }
  }

  async #translate(error: unknown, address: string): Promise<unknown> {
    if (!isAPIError(error)) return error;
    const known = libraryErrors[error.body?.code ?? ""];
    if (known) return new SvcError(known);
    // The insert failed without a reason. Another sign-up may have taken the address meanwhile.
    if (error.body?.code === "FAILED_TO_CREATE_USER") {
      const taken = await this.#library.context.internalAdapter.findUserByEmail(address).catch(() => null);
      return taken ? new SvcError("EMAIL_TAKEN") : new SvcError("INTERNAL", undefined, { cause: error });
    }
    return refusalOf(error);
  }
}

const libraryErrors: Record<string, ErrorCode> = {
  USER_ALREADY_EXISTS: "EMAIL_TAKEN",
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: "EMAIL_TAKEN",
  INVALID_EMAIL_OR_PASSWORD: "INVALID_CREDENTIALS",
  EMAIL_NOT_VERIFIED: "EMAIL_NOT_VERIFIED",
};
