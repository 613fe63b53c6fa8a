/** A better-auth plugin: side effects of switching the second factor on or off. */
import type { BetterAuthPlugin } from "better-auth";
import { APIError, createAuthMiddleware } from "better-auth/api";
import type { Library } from "./library-types.ts";
import { endSessions, forget } from "./passwords/passwords.ts";

export const isSwitchedOn = (user: object | null | undefined): boolean =>
  (user as { twoFactorEnabled?: unknown } | null | undefined)?.twoFactorEnabled === true;

/**
 * Records that a code has opened a session, for as long as the plugin accepts it: the codes of the previous, the
 * current and the next period.
 *
 * @returns false when the code was used before
 */
function claimCode({ internalAdapter, getPlugin }: Library["context"], userId: string, code: string): Promise<boolean> {
  const { options } = getPlugin("two-factor") as { options?: { totpOptions?: { period?: number } } };
  const expiresAt = new Date(Date.now() + 3 * (options?.totpOptions?.period ?? 30) * 1000);
  return internalAdapter.reserveVerificationValue({ identifier: `used-code-${userId}-${code}`, value: "", expiresAt });
}

/**
 * Rules that the `twoFactor` plugin lacks. Switching the second factor on ends the user's other sessions, which began
 * without it, and forgets trusted devices. A code of an authenticator app opens only one session.
 */
export const secondFactorRules: BetterAuthPlugin = {
  id: "svc-second-factor",
  hooks: {
    after: [
      {
        matcher: ({ path }) => path?.startsWith("/two-factor/") === true,
        handler: createAuthMiddleware(async ({ context, path, body }) => {
          const { internalAdapter, newSession, session } = context;
          if (!newSession || !isSwitchedOn(newSession.user)) return;
          if (session?.session) {
            await endSessions(internalAdapter, newSession.user.id, newSession.session.id);
            await forget(context, newSession.user.id, "trust-device-"); // devices were trusted with an older secret
          } else if (path === "/two-factor/verify-totp") {
            if (await claimCode(context as Library["context"], newSession.user.id, String(body.code))) return;
            await internalAdapter.deleteSession(newSession.session.token);
            throw APIError.from("UNAUTHORIZED", { code: "INVALID_CODE", message: "Invalid code" });
          }
        }),
      },
    ],
  },
};
