/** A better-auth plugin: an administrator who acts as a user leaves no way into the account that outlives the visit. */
import type { BetterAuthPlugin } from "better-auth";
import { APIError, createAuthMiddleware, getSessionFromCtx } from "better-auth/api";

/** Endpoints of plugins that make a way in for the user of the session. */
const lasting: ReadonlySet<string | undefined> = new Set([
  "/passkey/generate-register-options",
  "/passkey/verify-registration",
  "/device/approve",
]);

export const visitRules: BetterAuthPlugin = {
  id: "svc-visits",
  hooks: {
    before: [
      {
        matcher: ({ path }) => lasting.has(path),
        handler: createAuthMiddleware(async (ctx) => {
          const found = await getSessionFromCtx(ctx);
          // A column of the `admin` plugin.
          if (!found?.session.impersonatedBy) return;
          throw new APIError("FORBIDDEN", {
            message: "An administrator who acts as a user cannot do this for the user.",
          });
        }),
      },
    ],
  },
};
