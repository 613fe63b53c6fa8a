/**
 * Actions on a user's own account: change the password, end all sessions, delete the account.
 * Next hop: `src/auth/passwords/passwords.ts`, and better-auth's internal adapter, through `library.ts`.
 */
import { z } from "zod";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isTransient, sqlState } from "../postgres/errors.ts";
import type { Library } from "./library-types.ts";
import type { Attempts } from "./passwords/attempts.ts";
import type { Passwords } from "./passwords/passwords.ts";
import { checked, passwordRules } from "./passwords/rules.ts";
import { refused } from "./refusals.ts";
import { presentSession } from "./sessions/present-session.ts";
import type { VerifiedTokens } from "./sessions/verified-tokens.ts";

export interface AccountsOptions {
  library: Library;
  passwords: Passwords;
  attempts: Attempts;
  verified: Pick<VerifiedTokens, "forget">;
}

/** In milliseconds: how long a sign-in by a provider counts as proof of identity. */
const fresh = 10 * 60 * 1000;

export class Accounts {
  readonly #options: AccountsOptions;
  readonly #change;
  readonly #delete;

  constructor(options: AccountsOptions) {
    this.#options = options;
    const { password, newPassword } = passwordRules(options.library);
    this.#change = z.object({ currentPassword: password, newPassword }, "Send an object.");
    this.#delete = z.object({ password: password.optional() }, "Send an object.");
  }

  /**
   * Changes the password. The current session stays, all others end.
   *
   * @throws SvcError VALIDATION_FAILED, UNAUTHORIZED, INVALID_CREDENTIALS, RATE_LIMITED, FORBIDDEN without a password
   */
  async changePassword(session: Session, input: unknown, about: Headers): Promise<void> {
    const { passwords, attempts } = this.#options;
    const body = await checked(this.#change, input);
    const { user } = await this.#present(session);
    const old = await passwords.hashOf(user.id);
    if (old === null) throw withoutPassword();
    await attempts.password(user.email, about, async () => {
      const hash = await passwords.hashQueue.run(async () => {
        await passwords.requireRight(old, body.currentPassword);
        return passwords.hash(body.newPassword);
      });
      // Another request has changed the password meanwhile.
      const isDone = await passwords.replace(user.id, { old, hash, keep: session.id });
      if (!isDone) throw new SvcError("INVALID_CREDENTIALS");
    });
  }

  /**
   * Deletes a user and all rows that refer to it `on delete cascade`.
   *
   * @throws SvcError VALIDATION_FAILED, UNAUTHORIZED, INVALID_CREDENTIALS, RATE_LIMITED; FORBIDDEN for users without a
   *   password whose sign-in is too old, and for an administrator who acts as the user; CONFLICT when rows of the application refer to the user and forbid it
   */
  async delete(session: Session, input: unknown, about: Headers): Promise<void> {
    const { passwords, attempts } = this.#options;
    const { password } = await checked(this.#delete, input);
    const { user, createdAt, impersonatedBy } = await this.#present(session);
    const hash = await passwords.hashOf(user.id);
    if (impersonatedBy) {
      throw new SvcError("FORBIDDEN", "An administrator who acts as a user cannot delete the account.");
    } else if (hash !== null) {
      if (password === undefined) throw passwordMissing();
      await attempts.password(user.email, about, () =>
        passwords.hashQueue.run(() => passwords.requireRight(hash, password)),
      );
    } else if (Date.now() - createdAt.getTime() > fresh) {
      throw new SvcError("FORBIDDEN", "Sign in again, then delete the account within 10 minutes.");
    }
    await this.#remove(user.id);
  }

  /** @throws SvcError UNAUTHORIZED when the session has ended */
  async signOutEverywhere(session: Session): Promise<void> {
    const { user } = await this.#present(session);
    await this.#options.passwords.endSessions(user.id);
  }

  async #remove(userId: string): Promise<void> {
    const { library, verified } = this.#options;
    const { internalAdapter } = library.context;
    try {
      await library.transaction(async () => {
        await internalAdapter.deleteUser(userId);
        if (await internalAdapter.findUserById(userId)) throw refused();
      });
    } catch (error) {
      // A deadlock with a change of the user's rows, such as the deletion of an organization.
      if (isTransient(error)) throw new SvcError("CONFLICT", undefined, { cause: error });
      if (sqlState(error) !== foreignKeyViolation) throw error;
      throw new SvcError("CONFLICT", "Other rows still refer to this account, so it cannot be deleted.", {
        hint: "Authors: a foreign key to auth.user without on delete cascade forbids it; the log has the error.",
        cause: error,
      });
    }
    verified.forget(userId);
  }

  async #present({ id, user: { id: userId } }: Session) {
    const { library } = this.#options;
    const { createdAt, impersonatedBy } = await presentSession(library, { id, userId });
    const user = await library.context.internalAdapter.findUserById(userId);
    if (!user) throw new SvcError("UNAUTHORIZED", "The session has ended. Sign in again.");
    return { user, createdAt, impersonatedBy };
  }
}

const foreignKeyViolation = "23503";

const passwordMissing = () =>
  new SvcError("VALIDATION_FAILED", undefined, {
    issues: [{ path: ["password"], message: "The password must be a text." }],
  });

const withoutPassword = () =>
  new SvcError("FORBIDDEN", "This account has no password that could be changed.", {
    hint: "Ask for a password reset: the link in its mail sets one.",
  });
