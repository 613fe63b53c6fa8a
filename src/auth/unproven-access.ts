/**
 * Ends access that began before anybody had proved the address of an account: somebody else may have signed up with it,
 * and wait. The owner of the mailbox gets the account without the earlier ways into it.
 * Called by `create-sign-in.ts`. Next hop: `passwords/passwords.ts` replaces the password and ends the sessions.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { getCurrentAdapter, tryGetCurrentAuthEndpointContext } from "@better-auth/core/context";
import { getAuthTables } from "better-auth/db";
import type { Library } from "./library-types.ts";

type Adapter = Library["context"]["adapter"];
type Where = NonNullable<Parameters<Adapter["deleteMany"]>[0]["where"]>;

/**
 * Endpoints to which the mailbox is the way into the account. `/verify-email` is not one of them: it confirms the account
 * of a user who is already in.
 */
const proofs: ReadonlySet<string | undefined> = new Set([
  "/reset-password",
  "/email-otp/reset-password",
  "/magic-link/verify",
  "/sign-in/email-otp",
]);

/** What signs in, by the library's and the plugins' names: which rows are a user's. */
const ways: Record<string, (userId: string) => Where> = {
  // The password is replaced.
  account: (value) => [
    { field: "userId", value },
    { field: "providerId", operator: "ne", value: "credential" },
  ],
  passkey: (value) => [{ field: "userId", value }],
  walletAddress: (value) => [{ field: "userId", value }],
  apikey: (value) => [{ field: "referenceId", value }],
};

/** The user whose address is proved for the first time, while the row is written. */
const proving = new AsyncLocalStorage<string>();

/** For the pool of the library, which removes the user's API keys in the same transaction: they are in no table of its own. */
export const provingUser = (): string | undefined => proving.getStore();

/** The address that was proved belongs to somebody else, or to nobody. */
class Moved extends Error {}

/** Watches for the write that all these endpoints end with. The second factor stays: a mailbox does not replace it. */
export function endUnprovenAccess({ context, transaction }: Pick<Library, "context" | "transaction">): void {
  const { internalAdapter, adapter, options } = context;
  const { updateUser, findUserById, findUserByEmail } = internalAdapter;
  const tables = getAuthTables(options);
  const noNumber = tables.user?.fields.phoneNumber && { phoneNumber: null, phoneNumberVerified: false };
  /** The address for which a request of a plugin found its user. */
  const asked = new WeakMap<object, string>();

  internalAdapter.findUserByEmail = (email, ...rest) => {
    const call = tryGetCurrentAuthEndpointContext();
    if (call) asked.set(call, email.toLowerCase());
    return findUserByEmail(email, ...rest);
  };
  internalAdapter.updateUser = (async (userId, data) => {
    const call = tryGetCurrentAuthEndpointContext();
    if (!call || data.emailVerified !== true || !proofs.has(call.path)) return updateUser(userId, data);
    const address = asked.get(call);
    const prove = async () => {
      const isFirst = (await findUserById(userId))?.emailVerified === false;
      if (isFirst) await endOthers(userId);
      const write = () => updateUser(userId, { ...data, ...(isFirst && noNumber) });
      const user = await (isFirst ? proving.run(userId, write) : write());
      // The update may have waited for one that changes the address.
      if (address !== undefined && user?.email !== address) throw new Moved();
      return user;
    };
    return transaction(prove).catch((error: unknown) => {
      // Without a row the library answers as for a user who is gone; its types leave this out.
      if (error instanceof Moved) return null;
      throw error;
    });
  }) as typeof updateUser;

  async function endOthers(userId: string): Promise<void> {
    const current = await getCurrentAdapter(adapter);
    for (const [model, where] of Object.entries(ways)) {
      if (tables[model]) await current.deleteMany({ model, where: where(userId) });
    }
  }
}
