/**
 * Filters cookies to and from the library. We use the library's session cookie, name and value, so it never passes
 * through unchanged: we parse incoming cookies by our own rules, and our own code sets outgoing ones.
 * Next hop: `src/auth/routes/cookie-style.ts`, `src/auth/routes/plugins.ts`.
 */
import { decodeCookie, pairsOf } from "./sessions/session-cookie.ts";

/** Cookies of the library: the session, a trusted device, a half-finished sign-in, values of plugins. */
const ours = /^(?:__Secure-)?authlib\./;

/** Cookies that clients cannot pass to the library: the session, its cache, and the flag for a shorter session. */
const session = /^(?:__Secure-)?authlib\.(?:session_token|session_data(?:\.\d+)?|dont_remember)$/;

/** Whether a browser sent a cookie that identifies its user. */
export const hasCookies = (header: string | undefined): boolean => pairsOf(header).some(([name]) => ours.test(name));

/** A cookie name that every parser reads the same way (RFC 6265, section 4.1.1). */
const plainName = /^[!#$%&'*+.^`|~\w-]+$/;

/**
 * The `Cookie` header for the library, without the session. It contains only cookies that the library's parser and ours
 * read the same way: plain names, values spelled as they are set, one value per name. Otherwise the library could act
 * on another cookie than the one checked here.
 */
export function withoutSession(header: string | undefined): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of pairsOf(header)) {
    if (!plainName.test(name) || !ours.test(name) || session.test(name)) continue;
    const known = values.get(name) ?? new Set();
    values.set(name, known.add(value));
  }
  return [...values].flatMap(([name, given]) => plainPair(name, [...given])).join("; ");
}

/** A value that every parser reads the same way: no character is stripped or ends the value (RFC 6265, section 4.1.1). */
const plainValue = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/** Two different values of one name are dropped: one may come from a neighbouring host, and we cannot tell which. */
function plainPair(name: string, values: readonly string[]): string[] {
  const [value = "", ...others] = new Set(values.map(decodeCookie));
  if (value === null || others.length > 0) return [];
  return [`${name}=${plainValue.test(value) && !value.includes("%") ? value : encodeURIComponent(value)}`];
}

/** The `Cookie` header that a browser would send after these `Set-Cookie` headers. */
export const cookieHeader = (setCookies: readonly string[]): string =>
  withoutSession(
    setCookies
      .filter((line) => !/;\s*max-age=0/i.test(line))
      .map((line) => line.split(";", 1)[0])
      .join("; "),
  );

/**
 * Removes the session from the library's `Set-Cookie` headers.
 *
 * @returns the signed session token, "" when the session is to be removed, null when it is unchanged; and the other cookies
 */
export function splitSession(
  setCookies: readonly string[],
  name: string,
): { session: string | null; others: string[] } {
  const mine = setCookies.filter((line) => line.startsWith(`${name}=`)).at(-1);
  const value = mine?.slice(name.length + 1).split(";", 1)[0];
  return {
    session: value === undefined ? null : decodeURIComponent(value),
    others: setCookies.filter((line) => !session.test(line.split("=", 1)[0] ?? "")),
  };
}

/** A cookie by which `multiSession` keeps an account of the browser. */
const account = /^(?:__Secure-)?authlib\.session_token_multi-/;

/** Without accounts whose second factor is still to follow: their sessions have ended, and the browser keeps only a few. */
export const withoutAccounts = (setCookies: readonly string[]): string[] =>
  setCookies.filter((line) => !account.test(line));
