/**
 * Hashes, compares and replaces passwords. Replacing one ends the sessions that it opened. better-auth hashes, with scrypt.
 * Next hop: better-auth's internal adapter, through `src/auth/library.ts`.
 */
import { getCurrentAdapter } from "@better-auth/core/context";
import { SvcError } from "../../kit/svc-error.ts";
import type { Library } from "../library-types.ts";
import { refusalOf, refused } from "../refusals.ts";
import { presentSession } from "../sessions/present-session.ts";
import type { VerifiedTokens } from "../sessions/verified-tokens.ts";
import type { Attempts } from "./attempts.ts";
import type { HashQueue } from "./hash-queue.ts";

export interface Replacement {
  /** The current hash, as read before; null without a password. */
  old: string | null;
  hash: string;
  /** Id of the one session to keep, that of the caller: nothing is replaced when it has ended. (Default: none) */
  keep?: string;
  /** The address that this also verifies. (Default: none) */
  proves?: string;
}

export class Passwords {
  readonly #library: Library;
  readonly #verified: Pick<VerifiedTokens, "forget">;
  readonly hashQueue: HashQueue;
  /** The library's own, which ends no session. */
  readonly #updatePassword: Library["context"]["internalAdapter"]["updatePassword"];

  constructor(library: Library, attempts: Attempts, hashQueue: HashQueue, verified: Pick<VerifiedTokens, "forget">) {
    this.#library = library;
    this.#verified = verified;
    this.hashQueue = hashQueue;
    const { internalAdapter, password } = library.context;
    const { verify } = password;
    // The library and its plugins compare passwords only here, so every comparison is counted.
    password.verify = (pair) => attempts.comparison(pair.hash, () => verify(pair));
    const { deleteUser, deleteUserSessions } = internalAdapter;
    internalAdapter.deleteUser = async (userId) => {
      await deleteUser(userId);
      await endDelegated(library.context, userId);
      // No foreign key does it: a key may belong to an organization.
      if (library.context.hasPlugin("api-key") && !(await internalAdapter.findUserById(userId))) {
        await remove(library.context, "apikey", [{ field: "referenceId", value: userId }]);
      }
    };
    internalAdapter.deleteUserSessions = async (userId) => {
      await deleteUserSessions(userId);
      await endDelegated(library.context, userId);
      await endGrants(library.context, userId);
    };
    this.#updatePassword = internalAdapter.updatePassword;
    // Plugins replace passwords here: most of them leave the sessions that the old one opened.
    internalAdapter.updatePassword = async (userId, hash) => {
      await this.#updatePassword(userId, hash);
      await this.endSessions(userId);
    };
  }

  /** The stored hash, or null for users who only sign in by a provider. */
  async hashOf(userId: string): Promise<string | null> {
    return (await this.#library.context.internalAdapter.findCredentialAccount(userId))?.password ?? null;
  }

  /**
   * Occupies a thread: run it in the hash queue.
   *
   * @throws SvcError when a plugin refuses the password, such as `haveIBeenPwned`
   */
  async hash(password: string): Promise<string> {
    try {
      return await this.#library.context.password.hash(password);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /**
   * Occupies a thread: run it in the hash queue.
   *
   * @throws SvcError INVALID_CREDENTIALS
   */
  async requireRight(hash: string, password: string): Promise<void> {
    if (!(await this.#library.context.password.verify({ hash, password }))) throw new SvcError("INVALID_CREDENTIALS");
  }

  /**
   * Replaces a password and ends the affected sessions in one transaction, or changes nothing.
   *
   * @returns false when the old password is no longer the current one, or the address that it proves
   * @throws SvcError FORBIDDEN when a hook of the application refuses; UNAUTHORIZED when the session to keep has ended
   */
  async replace(userId: string, { old, hash, keep, proves }: Replacement): Promise<boolean> {
    const { internalAdapter } = this.#library.context;
    try {
      await this.#library.transaction(async () => {
        // Locks the row: the later of two concurrent changes sees that the password or the address has changed.
        const now = new Date();
        const user = await internalAdapter.updateUser(userId, {
          updatedAt: now,
          ...(proves !== undefined && { emailVerified: true }),
        });
        if (!user) throw refused();
        if (keep !== undefined) await presentSession(this.#library, { id: keep, userId });
        if (proves !== undefined && user.email !== proves) throw new Overtaken();
        if ((await this.hashOf(userId)) !== old) throw new Overtaken();
        if (old !== null) await this.#updatePassword(userId, hash);
        else await internalAdapter.linkAccount({ userId, providerId: "credential", accountId: userId, password: hash });
        if ((await this.hashOf(userId)) !== hash) throw refused();
        await this.endSessions(userId, keep);
      });
    } catch (error) {
      if (error instanceof Overtaken) return false;
      throw error;
    }
    // Again, for sessions that were opened before the commit. Later ones check for themselves.
    await this.endSessions(userId, keep);
    return true;
  }

  /** Ends all sessions of a user except `keep`, pending second-factor sign-ins, and the trust in devices. */
  async endSessions(userId: string, keep?: string): Promise<void> {
    const { context } = this.#library;
    await endSessions(context.internalAdapter, userId, keep);
    await endDelegated(context, userId);
    await forget(context, userId, "2fa-");
    await forget(context, userId, "trust-device-");
    this.#verified.forget(userId);
  }
}

type Adapter = Library["context"]["adapter"];
type Where = Parameters<Adapter["deleteMany"]>[0]["where"];

/** Within a transaction by its own adapter: waiting for a second connection, transactions could use up the pool and stop. */
async function remove({ adapter }: { adapter: Adapter }, model: string, where: Where): Promise<void> {
  const current = await getCurrentAdapter(adapter);
  await current.deleteMany({ model, where });
}

/** Deletes the plugin's records of a user: challenges (`2fa-`), devices (`trust-device-`). */
export const forget = (context: { adapter: Adapter }, userId: string, kind: "2fa-" | "trust-device-"): Promise<void> =>
  remove(context, "verification", [
    { field: "value", value: userId },
    { field: "identifier", operator: "starts_with", value: kind },
  ]);

/**
 * Ends what a user's sessions gave to others: the sessions in which an administrator acts as other users, and devices
 * that were approved but have not fetched their session yet.
 */
async function endDelegated(context: Library["context"], value: string): Promise<void> {
  if (context.hasPlugin("admin")) await remove(context, "session", [{ field: "impersonatedBy", value }]);
  if (context.hasPlugin("device-authorization")) await remove(context, "deviceCode", [{ field: "userId", value }]);
}

/**
 * Ends the tokens that `oauthProvider` has issued to other applications for a user. Otherwise their refresh tokens would
 * outlive a ban.
 */
async function endGrants(context: Library["context"], value: string): Promise<void> {
  if (!context.hasPlugin("oauth-provider")) return;
  for (const model of ["oauthAccessToken", "oauthRefreshToken"])
    await remove(context, model, [{ field: "userId", value }]);
}

/** @throws SvcError FORBIDDEN when a hook of the application refuses */
export async function endSessions(
  internalAdapter: Library["context"]["internalAdapter"],
  userId: string,
  keep?: string,
): Promise<void> {
  if (keep === undefined) return internalAdapter.deleteUserSessions(userId);
  // The library lists a hundred at a time.
  for (let before = ""; ; ) {
    const others = (await internalAdapter.listSessions(userId)).filter(({ id }) => id !== keep);
    const ids = others.map(({ id }) => id).join();
    if (others.length === 0) return;
    if (ids === before) throw refused();
    await internalAdapter.deleteSessions(others.map(({ token }) => token));
    before = ids;
  }
}

class Overtaken extends Error {}
