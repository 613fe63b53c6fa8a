/**
 * Applies the second factor of better-auth's `twoFactor` plugin to every kind of sign-in. The library itself asks for
 * it only after a password, in its own endpoint.
 * Used by `credentials.ts`, `src/auth/routes/social.ts`, `src/auth/plugins/plugin-second-factor.ts`.
 * Next hop: better-auth/plugins/two-factor, through `src/auth/library.ts`.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { isAPIError } from "better-auth/api";
import { SvcError } from "../../kit/svc-error.ts";
import { cookieHeader } from "../library-cookies.ts";
import type { Library } from "../library-types.ts";
import { isSwitchedOn } from "../second-factor-rules.ts";
import { cookieValue } from "../sessions/session-cookie.ts";
import type { SessionTokens } from "../sessions/session-token.ts";

/** The second factor in token style, sent with e-mail and password. */
export interface SecondFactor {
  /** From the authenticator app. */
  code?: string | undefined;
  /** Each works once. */
  backupCode?: string | undefined;
}

/** In seconds: how long the second step of a sign-in may take; the plugin's own default. */
const challengeLifetime = 600;

/** Whether this user's sign-ins require a second factor. */
export async function hasSecondFactor({ context }: Pick<Library, "context">, userId: string): Promise<boolean> {
  return context.hasPlugin("two-factor") && isSwitchedOn(await context.internalAdapter.findUserById(userId));
}

/** The user's methods for the second factor, by the plugin's names, as it lists them after a password. */
export async function methodsOf({ context }: Pick<Library, "context">, userId: string): Promise<string[]> {
  const { options = {} } = context.getPlugin("two-factor") as { options?: PluginOptions };
  const where = [{ field: "userId", value: userId }];
  const model = options.twoFactorTable ?? "twoFactor";
  const app = options.totpOptions?.disable
    ? null
    : await context.adapter.findOne<{ verified?: boolean }>({ model, where });
  return [...(app && app.verified !== false ? ["totp"] : []), ...(options.otpOptions?.sendOTP ? ["otp"] : [])];
}

interface PluginOptions {
  twoFactorTable?: string;
  totpOptions?: { disable?: boolean };
  otpOptions?: { sendOTP?: unknown };
}

/**
 * Whether this user still trusts this browser, so that it needs no second factor (`trustDevice`).
 *
 * @param cookies the `Cookie` header
 */
export async function isTrusted(
  { context }: Pick<Library, "context">,
  userId: string,
  cookies: string | undefined,
): Promise<boolean> {
  const value = cookieValue(cookies, context.createAuthCookie("trust_device").name) ?? "";
  // The cookie holds a keyed digest of user and record, then the record. The cookie's signature does not include the user.
  const [, digest, record] = /^([\w-]{43})!(trust-device-[\w-]{32})\./.exec(value) ?? [];
  if (digest === undefined || record === undefined) return false;
  const expected = createHmac("sha256", context.secret).update(`${userId}!${record}`).digest();
  if (!timingSafeEqual(expected, Buffer.from(digest, "base64url"))) return false;
  const kept = await context.internalAdapter.findVerificationValue(record);
  return kept?.value === userId && kept.expiresAt > new Date();
}

/**
 * Starts the second step of a sign-in without a password, as the plugin does after a password: sets a cookie for the
 * first factor. Endpoints such as `/two-factor/verify-totp` complete the sign-in.
 *
 * @param sessionTokens signs as the library does
 * @returns `Set-Cookie`
 */
export async function challenge(
  { context }: Pick<Library, "context">,
  userId: string,
  sessionTokens: SessionTokens,
): Promise<string> {
  const { internalAdapter } = context;
  const { options } = context.getPlugin("two-factor") as { options?: { twoFactorCookieMaxAge?: number } };
  const maxAge = options?.twoFactorCookieMaxAge ?? challengeLifetime;
  const identifier = `2fa-${context.generateId({ model: "verification", size: 20 })}`;
  const expiresAt = new Date(Date.now() + maxAge * 1000);
  await internalAdapter.createVerificationValue({ identifier, value: userId, expiresAt });
  await internalAdapter.createVerificationValue({ identifier: `2fa-attempts-${identifier}`, value: "0", expiresAt });
  const { name, attributes } = context.createAuthCookie("two_factor", { maxAge });
  const flags = `Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Lax${attributes.secure ? "; Secure" : ""}`;
  return `${name}=${encodeURIComponent(sessionTokens.sign(identifier))}; ${flags}`;
}

/**
 * Completes a sign-in by password in one request; cookie style needs two.
 *
 * @param cookies that the library set after the password
 * @returns the session's bare token
 * @throws SvcError INVALID_CREDENTIALS; the library's errors
 */
export async function complete(
  { api }: Pick<Library, "api">,
  cookies: readonly string[],
  { code, backupCode }: SecondFactor,
  about: Headers,
): Promise<string> {
  const { verifyTOTP, verifyBackupCode } = api as unknown as Verifiers;
  const verify = code === undefined ? verifyBackupCode : verifyTOTP;
  const headers = new Headers(about);
  headers.set("cookie", cookieHeader(cookies));
  try {
    const { token } = await verify({ body: { code: code ?? backupCode }, headers });
    return token;
  } catch (error) {
    if (isAPIError(error) && error.statusCode === 401) throw new SvcError("INVALID_CREDENTIALS", "Invalid code");
    throw error;
  }
}

export const secondFactorRequired = () =>
  new SvcError("TWO_FACTOR_REQUIRED", undefined, {
    hint: "Send code, from the authenticator app, or backupCode along with e-mail and password.",
  });

type Verify = (call: { body: object; headers: Headers }) => Promise<{ token: string }>;

/** The plugin's endpoints. The library's types do not include them, since an instance may have any plugins. */
interface Verifiers {
  verifyTOTP: Verify;
  verifyBackupCode: Verify;
}
