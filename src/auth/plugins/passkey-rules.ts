/**
 * What `@better-auth/passkey` does not ask before it stores a passkey: whether it is known, and how many there are.
 * Called by `passkeys.ts`.
 */
import type { PasskeyOptions } from "@better-auth/passkey";
import { APIError } from "better-auth/api";

type Check = NonNullable<NonNullable<PasskeyOptions["registration"]>["afterVerification"]>;

/** The id of a credential has at most 1023 bytes (WebAuthn Level 3, section 7.1), as base64url. An index takes no long ones. */
const most = { perUser: 20, id: 1364 } as const;

/** Runs after the plugin has verified a new passkey, and before it stores it. @throws APIError */
export const checkNewPasskey: Check = async ({ ctx, verification, user }) => {
  const { adapter } = ctx.context;
  const id = verification.registrationInfo?.credential.id ?? "";
  if (id.length > most.id) throw refusal("BAD_REQUEST", "The id of this passkey is too long.");
  const count = (field: string, value: string) => adapter.count({ model: "passkey", where: [{ field, value }] });
  // Of two rows with one id a sign-in finds either, and may refuse the owner.
  if ((await count("credentialID", id)) > 0) throw refusal("CONFLICT", "This passkey is registered already.");
  if ((await count("userId", user.id)) < most.perUser) return;
  throw refusal("CONFLICT", `You have ${most.perUser} passkeys. Delete one that is no longer used.`);
};

const refusal = (status: "BAD_REQUEST" | "CONFLICT", message: string) => new APIError(status, { message });
