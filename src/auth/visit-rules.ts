/** A better-auth plugin: an administrator who acts as a user leaves no way into the account that outlives the visit. */
import type { BetterAuthPlugin } from "better-auth";
import { APIError, createAuthMiddleware, getSessionFromCtx } from "better-auth/api";

/**
 * Endpoints of plugins that make or end a way in for the user of the session, or for an application, a provider or another user.
 * `tests/auth/visit-endpoints.ts` has all endpoints, with the reason why others are allowed.
 */
const lasting: ReadonlySet<string | undefined> = new Set([
  "/passkey/generate-register-options",
  "/passkey/verify-registration",
  "/device/approve",
  "/phone-number/verify",
  "/email-otp/request-email-change",
  "/email-otp/change-email",
  "/delete-anonymous-user",
  "/api-key/create",
  "/api-key/update",
  // A client that has a code or the user's consent keeps its tokens.
  "/oauth2/authorize",
  "/oauth2/consent",
  "/oauth2/continue",
  "/oauth2/update-consent",
  // A secret of a client or of a provider stays known.
  "/oauth2/register",
  "/oauth2/create-client",
  "/oauth2/update-client",
  "/oauth2/client/rotate-secret",
  "/sso/register",
  "/sso/update-provider",
  "/sso/request-domain-verification",
  "/sso/verify-domain",
  // A member, and what a role or a team may do, stays.
  "/organization/invite-member",
  "/organization/update-member-role",
  "/organization/add-team-member",
  "/organization/create-role",
  "/organization/update-role",
  // Where administrators may visit each other. The visit of a visit would belong to the user who is visited.
  "/admin/set-role",
  "/admin/create-user",
  "/admin/update-user",
  "/admin/ban-user",
  "/admin/unban-user",
  "/admin/impersonate-user",
  "/admin/revoke-user-session",
  "/admin/revoke-user-sessions",
  "/admin/remove-user",
  "/admin/set-user-password",
]);

const isLasting = (path: string | undefined) => lasting.has(path) || path?.startsWith("/two-factor/") === true;

/** Endpoints that can open the session of a visit. With `oauth_query`, `oauth-provider` gives its client a code for it. */
const opening: ReadonlySet<string | undefined> = new Set([
  "/admin/impersonate-user",
  "/multi-session/set-active",
  "/one-time-token/verify",
]);

/** After a sign-in here `anonymous` gives a guest's rows to the account, and deletes the guest. */
const linking =
  /^\/(sign-in|sign-up|callback|magic-link\/verify|email-otp\/verify-email|one-tap\/callback|passkey\/verify-authentication|verify-email)/;

const refusal = () =>
  new APIError("FORBIDDEN", { message: "An administrator who acts as a user cannot do this for the user." });

export const visitRules: BetterAuthPlugin = {
  id: "svc-visits",
  hooks: {
    before: [
      {
        matcher: ({ path }) => isLasting(path),
        handler: createAuthMiddleware(async (ctx) => {
          const found = await getSessionFromCtx(ctx);
          // A column of the `admin` plugin.
          if (!found?.session.impersonatedBy) return;
          throw refusal();
        }),
      },
      {
        matcher: ({ path, context }) => context.hasPlugin("anonymous") && linking.test(path ?? ""),
        handler: createAuthMiddleware(async (ctx) => {
          const found = await getSessionFromCtx(ctx, { disableRefresh: true });
          if (found?.session.impersonatedBy && (found.user as { isAnonymous?: boolean }).isAnonymous) throw refusal();
        }),
      },
      {
        matcher: ({ path, body }) => opening.has(path) && Object(body).oauth_query !== undefined,
        handler: createAuthMiddleware(async () => {
          throw new APIError("FORBIDDEN", {
            message: "This takes no oauth_query. Send the browser to /oauth2/authorize.",
          });
        }),
      },
    ],
  },
};
