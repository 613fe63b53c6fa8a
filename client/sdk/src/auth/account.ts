/** What users do with their account besides signing in: a lost password, another one, the end of sessions. */
import type { Strategy } from "./strategy.ts";

export interface AccountCalls {
  /**
   * Asks for a mail with a link to `redirectTo`, which gets the parameter `token`. Resolves whether or not there is such
   * an account.
   *
   * @param redirectTo a page on a listed origin; relative to the current one
   * @throws SvcError FORBIDDEN if the service sends no mails, VALIDATION_FAILED, RATE_LIMITED, NETWORK_ERROR
   */
  requestPasswordReset(email: string, redirectTo: string): Promise<void>;
  /**
   * Sets the password of the mail's owner, and ends all sessions of that user. Nobody is signed in by it.
   *
   * @param token the parameter `token` of the page
   * @throws SvcError BAD_REQUEST if the link is used or expired, VALIDATION_FAILED, RATE_LIMITED, NETWORK_ERROR
   */
  resetPassword(token: string, newPassword: string): Promise<void>;
  /**
   * Sets another password, and ends all other sessions of the user.
   *
   * @throws SvcError INVALID_CREDENTIALS, VALIDATION_FAILED, UNAUTHORIZED, RATE_LIMITED, NETWORK_ERROR
   */
  changePassword(currentPassword: string, newPassword: string): Promise<void>;
  /**
   * Sends the signed-in user a mail that confirms the address; none if it is confirmed.
   *
   * @param options.callbackURL the page to which its link leads in the end. (Default: the root of this page's origin)
   * @throws SvcError FORBIDDEN if the service sends no mails, UNAUTHORIZED, RATE_LIMITED, NETWORK_ERROR
   */
  sendVerificationEmail(options?: { callbackURL?: string | undefined }): Promise<void>;
  /** Ends all sessions of the user, this one too. @throws SvcError UNAUTHORIZED, NETWORK_ERROR */
  signOutEverywhere(): Promise<void>;
  /**
   * Deletes the user, with all rows that belong to it.
   *
   * @param password of users who have one
   * @throws SvcError INVALID_CREDENTIALS, CONFLICT if other rows forbid it, UNAUTHORIZED, RATE_LIMITED, NETWORK_ERROR
   */
  deleteUser(password?: string): Promise<void>;
}

interface Parts {
  strategy: Pick<Strategy, "signOut">;
  /** Sends a body to an authentication endpoint of the service itself: a bridge passes on sign-in only. */
  send(endpoint: string, body: object, asUser?: boolean): Promise<unknown>;
}

export function accountCalls({ strategy, send }: Parts): AccountCalls {
  /** The sessions are gone already; this forgets them here. */
  const leave = () => strategy.signOut().catch(() => {});

  return {
    async requestPasswordReset(email, redirectTo) {
      await send("/request-password-reset", { email, redirectTo: absolute(redirectTo) });
    },
    async resetPassword(token, newPassword) {
      await send("/reset-password", { token, newPassword });
    },
    async changePassword(currentPassword, newPassword) {
      await send("/change-password", { currentPassword, newPassword }, true);
    },
    async sendVerificationEmail({ callbackURL } = {}) {
      const body = callbackURL === undefined ? {} : { callbackURL: absolute(callbackURL) };
      await send("/send-verification-email", body, true);
    },
    async signOutEverywhere() {
      await send("/sign-out-everywhere", {}, true);
      await leave();
    },
    async deleteUser(password) {
      await send("/delete-user", { password }, true);
      await leave();
    },
  };
}

/** On a server there is no page to which an address could be relative. */
const absolute = (url: string) => {
  const page = (globalThis.location as Location | undefined)?.href;
  return page ? new URL(url, page).href : url;
};
