/**
 * Sign-up and sign-in by e-mail and password: checks what came, calls the library, puts its errors into our words.
 * Next hop: better-auth's `signUpEmail` and `signInEmail`, through `src/auth/library.ts`.
 */
import { isAPIError } from "better-auth/api";
import { z } from "zod";
import type { ErrorCode } from "../../kit/error-codes.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { isConnectionLoss } from "../../postgres/errors.ts";
import { splitSession } from "../library-cookies.ts";
import type { Library } from "../library-types.ts";
import type { MailLinks } from "../mail/mail-links.ts";
import type { Attempts } from "./attempts.ts";
import type { Passwords } from "./passwords.ts";
import { checked, email, passwordRules, text } from "./rules.ts";
import { complete } from "./second-factor.ts";

const name = text("The name")
  .transform((value) => value.trim())
  .pipe(z.string().min(1, "The name is empty.").max(200, "The name is longer than 200 characters."));

/** Where a password has led to. */
export type SignIn = {
  /** What else the library sets, beside the session. */
  cookies: string[];
} & (
  | { /** The session's, bare. */ token: string }
  /** The library's answer: a second factor is to follow. */
  | { token: null; challenge: object }
);

class Unfinished extends Error {
  readonly challenge: object;
  readonly cookies: string[];

  constructor(challenge: object, cookies: string[]) {
    super("A second factor is to follow.");
    this.challenge = challenge;
    this.cookies = cookies;
  }
}

export interface CredentialsOptions {
  library: Library;
  passwords: Passwords;
  attempts: Attempts;
  links: MailLinks;
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
    // Unknown keys are dropped, additional fields among them: nobody makes themselves an admin by asking.
    this.#signUp = z.object({ email, password: newPassword, name }, "Send an object.");
    const factor = z.string("It must be a text.").max(100, "It is too long.").optional();
    this.#signIn = z.object({ email, password, code: factor, backupCode: factor }, "Send an object.");
  }

  get enabled(): boolean {
    return this.#library.context.options.emailAndPassword?.enabled === true;
  }

  /**
   * Creates a user with a password, and a session. The mail that proves the address goes out later.
   *
   * @param origin of the page that asks, if it may be sent back to
   * @returns the session's bare token
   * @throws SvcError EMAIL_TAKEN, VALIDATION_FAILED, RATE_LIMITED, EMAIL_NOT_VERIFIED where that is required first, and
   *         what the application's hooks answer
   */
  async signUp(input: unknown, about: Headers, origin?: string): Promise<string> {
    const { attempts, links } = this.#options;
    const body = await checked(this.#signUp, input);
    await attempts.signUp(about);
    const { token, user } = await this.#call(body.email, () => this.#library.api.signUpEmail({ body, headers: about }));
    if (token === null) await this.#requireReal(user.id, body.email);
    await links.mailQuietly(user, origin);
    if (token !== null) await attempts.succeeded(body.email, about);
    return this.#opened(token);
  }

  /**
   * Opens a session. Whether an address has an account shows in nothing: the same hash is computed either way, and the
   * same attempts are counted.
   *
   * @param input e-mail and password, and `code` or `backupCode` where there is a second factor
   * @param origin of the page that asks, if it may be sent back to
   * @param about from `about()`; with the cookies of a device that the library is to recognise
   * @throws SvcError INVALID_CREDENTIALS, VALIDATION_FAILED, RATE_LIMITED, EMAIL_NOT_VERIFIED after the right password,
   *         and what the application's hooks answer
   */
  async signIn(input: unknown, about: Headers, origin?: string): Promise<SignIn> {
    const { attempts, links, passwords } = this.#options;
    const { code, backupCode, ...body } = await checked(this.#signIn, input);
    try {
      const open = async (): Promise<SignIn> => {
        const first = await this.#call(body.email, () =>
          this.#library.api.signInEmail({ body, headers: about, returnHeaders: true }),
        );
        const cookies = splitSession(first.headers.getSetCookie(), "").others;
        if (!("twoFactorRedirect" in first.response)) return { token: this.#opened(first.response.token), cookies };
        if (code === undefined && backupCode === undefined) throw new Unfinished(first.response, cookies);
        const completed = complete(this.#library, cookies, { code, backupCode }, about);
        const token = await completed.catch(async (error) => {
          throw await this.#translate(error, body.email);
        });
        return { token, cookies: [] };
      };
      return await attempts.password(body.email, about, () => passwords.opening(open));
    } catch (error) {
      // The password was right and does not count as an attempt, but nobody has signed in.
      if (error instanceof Unfinished) return { token: null, challenge: error.challenge, cookies: error.cookies };
      const isUnproved = error instanceof SvcError && error.code === "EMAIL_NOT_VERIFIED";
      const user = isUnproved && (await this.#library.context.internalAdapter.findUserByEmail(body.email))?.user;
      if (user) await links.mailQuietly(user, origin);
      throw error;
    }
  }

  /** The library, asked to require verified addresses, makes a user up where it has a reason not to create one. */
  async #requireReal(userId: string, address: string): Promise<void> {
    const { internalAdapter } = this.#library.context;
    if (await internalAdapter.findUserById(userId)) return;
    throw new SvcError((await internalAdapter.findUserByEmail(address)) ? "EMAIL_TAKEN" : "FORBIDDEN");
  }

  #opened(token: string | null): string {
    if (token !== null) return token;
    if (this.#options.links.isRequired) throw new SvcError("EMAIL_NOT_VERIFIED");
    throw new SvcError("FORBIDDEN", "The account is made. Sign in now."); // autoSignIn: false, by the betterAuth hook
  }

  async #call<Result>(address: string, call: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#options.passwords.gate.run(call);
    } catch (error) {
      throw await this.#translate(error, address);
    }
  }

  async #translate(error: unknown, address: string): Promise<unknown> {
    if (!isAPIError(error)) {
      if (!isConnectionLoss(error)) return error;
      return new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause: error });
    }
    const known = libraryErrors[error.body?.code ?? ""];
    if (known) return new SvcError(known);
    // The insert failed, and the library does not tell why: somebody else may have taken the address in between.
    if (error.body?.code === "FAILED_TO_CREATE_USER") {
      const taken = await this.#library.context.internalAdapter.findUserByEmail(address).catch(() => null);
      return taken ? new SvcError("EMAIL_TAKEN") : new SvcError("INTERNAL", undefined, { cause: error });
    }
    // What is left are refusals by the application's own hooks, worded for the caller.
    const status = statusErrors[error.statusCode];
    return status ? new SvcError(status, error.message || undefined, { cause: error }) : error;
  }
}

const libraryErrors: Record<string, ErrorCode> = {
  USER_ALREADY_EXISTS: "EMAIL_TAKEN",
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: "EMAIL_TAKEN",
  INVALID_EMAIL_OR_PASSWORD: "INVALID_CREDENTIALS",
  EMAIL_NOT_VERIFIED: "EMAIL_NOT_VERIFIED",
};

const statusErrors: Record<number, ErrorCode> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "CONFLICT",
  422: "BAD_REQUEST",
  429: "RATE_LIMITED",
};
