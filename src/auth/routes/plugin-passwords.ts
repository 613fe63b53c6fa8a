/**
 * Passwords and second factors that plugins' endpoints compare: to switch a second factor off, to sign in with a user name.
 * Counted before they are compared, as those of our own endpoints are, and hashed in the same gate; the plugins know nothing of
 * either, and look whether an account is locked before they have counted those who ask at the same moment.
 * Next hop: `../attempts.ts`.
 */
import type { Request as HttpRequest } from "express";
import { SvcError } from "../../errors/svc-error.ts";
import { cookieValue } from "../session-cookie.ts";
import { type AuthParts, about } from "./endpoint.ts";
import type { Credential } from "./plugins.ts";

/** What better-auth's plugins answer to a wrong one, such as INVALID_USERNAME_OR_PASSWORD. */
const wrong = /^INVALID_(?:(?:\w+_)?PASSWORD|CODE|BACKUP_CODE)$/;

/**
 * @param inner the request as the plugin gets it
 * @param answer has the plugin answer it
 * @throws SvcError RATE_LIMITED without asking the plugin; UNAVAILABLE when too many passwords wait to be hashed
 */
export async function countingPasswords(
  parts: AuthParts,
  request: HttpRequest,
  inner: Request,
  credential: Credential | null,
  answer: () => Promise<Response>,
): Promise<Response> {
  const account = await accountOf(parts, inner, credential);
  if (account === null) return answer();
  let given: Response | undefined;
  const check = async () => {
    given = await answer();
    if (await isRefusal(given)) throw new SvcError("INVALID_CREDENTIALS");
    return given;
  };
  try {
    // With a session, success may have had nothing to do with the password: it makes no network known.
    const proves = credential === null;
    return await parts.attempts.password(account, about(request), () => parts.gate.run(check), proves);
  } catch (error) {
    if (given) return given;
    throw error;
  }
}

/** Whose password or second factor is tried, as attempts are counted by it; null when none is. */
async function accountOf(parts: AuthParts, inner: Request, credential: Credential | null): Promise<string | null> {
  const challenged = credential === null ? await challengedUser(parts, inner) : null;
  if (challenged !== null) return `second factor ${challenged}`;
  const body: unknown = inner.body
    ? await inner
        .clone()
        .json()
        .catch(() => null)
    : null;
  const { password, username, email, phoneNumber } = Object(body) as Record<string, unknown>;
  if (typeof password !== "string") return null;
  const session = credential && (await parts.sessions.find(credential.token));
  if (session) return session.user.email;
  if (typeof email === "string") return email.trim().toLowerCase();
  const name = [username, phoneNumber].find((given) => typeof given === "string");
  return `plugin ${name === undefined ? "" : String(name).trim().toLowerCase()}`;
}

/** The user whose first factor was right, as the cookie of the second says. Whether that is signed, the plugin looks. */
async function challengedUser({ library: { context } }: AuthParts, { url, headers }: Request): Promise<string | null> {
  if (!/\/two-factor\/verify-[\w-]+$/.test(new URL(url).pathname)) return null;
  const value = cookieValue(headers.get("cookie") ?? undefined, context.createAuthCookie("two_factor").name) ?? "";
  const identifier = value.slice(0, Math.max(0, value.lastIndexOf(".")));
  return identifier === "" ? null : ((await context.internalAdapter.findVerificationValue(identifier))?.value ?? null);
}

async function isRefusal(answer: Response): Promise<boolean> {
  if (answer.status !== 400 && answer.status !== 401) return false;
  const said = (await answer
    .clone()
    .json()
    .catch(() => null)) as { code?: unknown } | null;
  return wrong.test(String(said?.code));
}
