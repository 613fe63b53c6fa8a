/**
 * Sign-up and sign-in by e-mail and password: checks what came, calls the library, puts its errors into our words.
 * Next hop: better-auth's `signUpEmail` and `signInEmail`, through `library.ts`.
 */
import { isAPIError } from "better-auth/api";
import { z } from "zod";
import { validate } from "../define/middleware.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { SvcError } from "../errors/svc-error.ts";
import { isConnectionLoss } from "../postgres/errors.ts";
import type { Library } from "./library.ts";
import type { PasswordGate } from "./password-gate.ts";

/** Text that PostgreSQL can store and that comes back as it went: no NUL, no half of a surrogate pair. */
const text = (what: string) =>
  z
    .string(`${what} must be a text.`)
    .refine(
      (value) => !value.includes("\0") && value.isWellFormed(),
      `${what} holds a character that cannot be stored.`,
    );

const email = text("The e-mail address")
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.email("This is not an e-mail address.").max(254, "The e-mail address is longer than 254 characters."));

const name = text("The name")
  .transform((value) => value.trim())
  .pipe(z.string().min(1, "The name is empty.").max(200, "The name is longer than 200 characters."));

export class Credentials {
  readonly #library: Library;
  readonly #gate: PasswordGate;
  readonly #signUp;
  readonly #signIn;

  constructor(library: Library, gate: PasswordGate) {
    this.#library = library;
    this.#gate = gate;
    const { minPasswordLength: min, maxPasswordLength: max } = library.context.password.config;
    const password = text("The password").refine(
      (value) => value.length <= max,
      `The password is longer than ${max} characters.`,
    );
    const newPassword = password.refine(
      (value) => value.length >= min,
      `The password is shorter than ${min} characters.`,
    );
    // Unknown keys are dropped, additional fields among them: nobody makes themselves an admin by asking.
    this.#signUp = z.object({ email, password: newPassword, name }, "Send an object.");
    this.#signIn = z.object({ email, password }, "Send an object.");
  }

  get enabled(): boolean {
    return this.#library.context.options.emailAndPassword?.enabled === true;
  }

  /**
   * Creates a user with a password, and a session.
   *
   * @returns the session's bare token
   * @throws SvcError EMAIL_TAKEN, VALIDATION_FAILED, and what the application's hooks answer
   */
  async signUp(input: unknown, headers: Headers): Promise<string> {
    const body = await checked(this.#signUp, input);
    return this.#call(body.email, () => this.#library.api.signUpEmail({ body, headers }));
  }

  /**
   * Opens a session. Whether an address has an account shows in nothing: the same hash is computed either way.
   *
   * @returns the session's bare token
   * @throws SvcError INVALID_CREDENTIALS, VALIDATION_FAILED, and what the application's hooks answer
   */
  async signIn(input: unknown, headers: Headers): Promise<string> {
    const body = await checked(this.#signIn, input);
    return this.#call(body.email, () => this.#library.api.signInEmail({ body, headers }));
  }

  async #call(address: string, call: () => Promise<{ token: string | null }>): Promise<string> {
    let token: string | null;
    try {
      ({ token } = await this.#gate.run(call));
    } catch (error) {
      throw await this.#translate(error, address);
    }
    if (token !== null) return token;
    // The library was told, by the betterAuth hook, to sign nobody in before the address is verified.
    throw new SvcError("FORBIDDEN", "Verify your e-mail address, then sign in.");
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

async function checked<T>(schema: z.ZodType<T>, input: unknown): Promise<T> {
  const result = await validate(schema, input);
  if (result.issues) throw new SvcError("VALIDATION_FAILED", undefined, { issues: result.issues });
  return result.value as T;
}
