/**
 * Cookies on their way to the library and back. Its session cookie is ours, name and value, so it is never passed on as
 * it came: what goes in was read by our rules, and what comes out is set by our own code.
 * Next hop: `src/auth/routes/cookie-style.ts`, `src/auth/routes/plugins.ts`.
 */
import { decodeCookie } from "./sessions/session-cookie.ts";

/** Beside the session: the device that is trusted, a sign-in that is half done, what plugins remember. */
const ours = /^(?:__Secure-)?authlib\./;

/** What nobody may bring along: the session, the library's cache of it, and its wish for a shorter one. */
const session = /^(?:__Secure-)?authlib\.(?:session_token|session_data(?:\.\d+)?|dont_remember)$/;

/** Whether a browser sent anything that stands for its user. */
export const hasCookies = (header: string | undefined): boolean =>
  pairsOf(header).some(([name]) => ours.test(name) || session.test(name));

/** A cookie's name that every parser reads as it is (RFC 6265, section 4.1.1). */
const plainName = /^[!#$%&'*+.^`|~\w-]+$/;

/**
 * The `Cookie` header for the library, without the session. It has only cookies that the library's parser reads as ours
 * does: plain names, values spelled as they are set, and one value of each name. Otherwise the library could act on
 * another cookie than the one that was looked at here.
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

/** Characters of a value that no parser strips, and none ends the value at (RFC 6265, section 4.1.1). */
const plainValue = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/** Two values of one name are none: nothing tells which of them a neighbouring host has set. */
function plainPair(name: string, values: readonly string[]): string[] {
  const [value = "", ...others] = new Set(values.map(decodeCookie));
  if (value === null || others.length > 0) return [];
  return [`${name}=${plainValue.test(value) && !value.includes("%") ? value : encodeURIComponent(value)}`];
}

/** The `Cookie` header of a browser that has just been told to set these. */
export const cookieHeader = (setCookies: readonly string[]): string =>
  withoutSession(
    setCookies
      .filter((line) => !/;\s*max-age=0/i.test(line))
      .map((line) => line.split(";", 1)[0])
      .join("; "),
  );

/**
 * Takes the session out of what the library sets.
 *
 * @returns the signed session token, "" where the session is to go, and null where it stays; and the other cookies
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

/** As in `src/auth/sessions/session-cookie.ts`: one space may stand between two pairs, other blanks are part of a name. */
const pairsOf = (header = ""): [name: string, value: string][] =>
  header.split(";").flatMap((pair) => {
    // Not by one pattern: a header full of spaces would be searched anew from each of them.
    const text = pair.replace(/^ +/, "");
    const end = text.indexOf("=");
    return end > 0 ? [[text.slice(0, end), text.slice(end + 1)]] : [];
  });
