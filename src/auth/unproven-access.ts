/**
 * Ends access that began before anybody had proved the address of an account: somebody else may have signed up with it,
 * and wait. The owner of the mailbox gets the account without the earlier ways into it.
 * Called by `create-sign-in.ts`. Next hop: `passwords/passwords.ts` replaces the password and ends the sessions.
 */
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

/**
 * Watches for the write that all these endpoints end with. The second factor stays: a mailbox does not replace it.
 */
export function endUnprovenAccess({ context }: Pick<Library, "context">): void {
  const { internalAdapter, adapter, options } = context;
  const { updateUser, findUserById } = internalAdapter;
  const tables = getAuthTables(options);
  const noNumber = tables.user?.fields.phoneNumber && { phoneNumber: null, phoneNumberVerified: false };
  internalAdapter.updateUser = async (userId, data) => {
    const isProof = data.emailVerified === true && proofs.has(tryGetCurrentAuthEndpointContext()?.path);
    if (!isProof || (await findUserById(userId))?.emailVerified !== false) return updateUser(userId, data);
    const current = await getCurrentAdapter(adapter);
    for (const [model, where] of Object.entries(ways)) {
      if (tables[model]) await current.deleteMany({ model, where: where(userId) });
    }
    return updateUser(userId, { ...data, ...noNumber });
  };
}
