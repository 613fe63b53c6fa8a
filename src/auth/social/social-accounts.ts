/**
 * Finds, links or creates our user for a provider's profile, through the library's adapter, so that the application's hooks run.
 * Next hop: better-auth's internal adapter, through `../library.ts`.
 */
import { getCurrentAuthEndpointContext } from "@better-auth/core/context";
import { getIP, isAPIError } from "better-auth/api";
import type { Logger } from "pino";
import { isConflict, sqlState } from "../../postgres/errors.ts";
import type { Library } from "../library-types.ts";
import type { Failure } from "./failure.ts";
import type { Profile } from "./profile.ts";

/** Each attempt can fail because of a concurrent one; a second failure is already rare. */
const attempts = 3;

export type Found = { userId: string } | { failure: Failure };

export class SocialAccounts {
  readonly #library: Library;
  readonly #log: Logger;

  constructor(library: Library, log: Logger) {
    this.#library = library;
    this.#log = log;
  }

  /**
   * The user of a profile.
   *
   * @param providerId the provider's id; only its own accounts count
   * @throws errors of the database
   */
  async find(providerId: string, profile: Profile): Promise<Found> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#findOrMake(providerId, profile);
      } catch (error) {
        if (isAPIError(error) && error.statusCode === 503) throw error.cause; // of library-pool.ts
        if (isAPIError(error)) return error.statusCode === 429 ? limited : this.#refused(error.body?.code);
        // Two concurrent callbacks: a unique constraint rejects one, and its retry finds the other's user.
        if (!isConflict(error) || attempt === attempts) throw error;
      }
    }
  }

  async #findOrMake(providerId: string, profile: Profile): Promise<Found> {
    const { internalAdapter } = this.#library.context;
    const known = await internalAdapter.findAccountOwnerByKey({ providerId, accountId: profile.id });
    if (known?.kind === "owned")
      return (await this.#refusal(providerId, profile, "sign-in")) ?? { userId: known.user.id };

    // Checked before looking for such a user, so an unverified address reveals nothing.
    if (profile.email === null) return { failure: "email_missing" };
    if (!profile.emailVerified) return { failure: "email_not_verified" };
    const local = await internalAdapter.findUserByEmail(profile.email, { includeAccounts: true });
    if (!local)
      return (
        (await this.#refusal(providerId, profile, "create-user")) ?? this.#make(providerId, profile, profile.email)
      );

    // An unverified local account may belong to somebody else, who would then share it with the address's owner.
    if (!local.user.emailVerified || !this.#mayLink) return { failure: "account_not_linked" };
    const userId = local.user.id;
    const theirs = local.accounts.filter((account) => account.providerId === providerId);
    if (theirs.some(({ accountId }) => accountId === profile.id)) return { userId }; // created by a concurrent callback
    // Addresses of a company or a sold domain get new owners. Another id means another person.
    if (theirs.length > 0) return { failure: "account_not_linked" };
    const refusal = await this.#refusal(providerId, profile, "link-account");
    if (refusal) return refusal;
    const account = await internalAdapter.linkAccount({ providerId, accountId: profile.id, userId });
    return account ? { userId } : this.#refused();
  }

  async #make(providerId: string, { id, emailVerified, name, image }: Profile, email: string): Promise<Found> {
    const { internalAdapter } = this.#library.context;
    // One transaction. The provider's tokens are not stored: nothing here calls the provider again.
    const { user, account } = await internalAdapter.createOAuthUser(
      { email, emailVerified, name, image },
      { providerId, accountId: id },
    );
    if (account) return { userId: user.id };
    await internalAdapter.deleteUser(user.id); // a hook refused the account, so nobody could sign in as this user
    return this.#refused();
  }

  /** Whether the `betterAuth` hook allows linking. */
  get #mayLink(): boolean {
    const { enabled, disableImplicitLinking } = this.#library.context.options.account?.accountLinking ?? {};
    return enabled !== false && disableImplicitLinking !== true;
  }

  /** The application's own check (better-auth's `user.validateUserInfo`). */
  async #refusal(
    providerId: string,
    { claims, email, emailVerified, name, image }: Profile,
    action: "create-user" | "link-account" | "sign-in",
  ): Promise<Found | null> {
    const validate = this.#library.context.options.user?.validateUserInfo;
    if (!validate) return null;
    const user = { ...(email !== null && { email }), emailVerified, name, image };
    const source = { action, method: "oauth", oauth: { providerId, profile: { ...claims } } };
    const endpoint = getCurrentAuthEndpointContext() as Parameters<typeof validate>[1];
    const verdict = await validate({ user, source }, endpoint);
    return verdict ? this.#refused(verdict.error) : null;
  }

  #refused(reason?: string): Found {
    this.#log.info({ reason }, "the application refused a social sign-in");
    return { failure: "sign_up_refused" };
  }

  /**
   * Opens a session.
   *
   * @param headers from `about`: browser and address
   * @returns its bare token; null when the user no longer exists or the application refuses
   */
  async openSession(userId: string, headers: Headers): Promise<string | null> {
    const { internalAdapter, options } = this.#library.context;
    const ipAddress = getIP(headers, options) ?? "";
    const userAgent = headers.get("user-agent") ?? "";
    try {
      const session = await internalAdapter.createSession(userId, false, { ipAddress, userAgent });
      return session?.token ?? null;
    } catch (error) {
      if (isAPIError(error)) this.#refused(error.body?.code);
      else if (sqlState(error) !== foreignKeyViolation) throw error;
      return null;
    }
  }
}

/** The network has made as many users as it may. */
const limited: Found = { failure: "rate_limited" };

const foreignKeyViolation = "23503";
