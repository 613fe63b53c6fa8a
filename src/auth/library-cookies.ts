/**
 * Cookies on their way to the library and back. Its session cookie is ours, name and value, so it is never passed on as
 * it came: what goes in was read by our rules, and what comes out is set by our own code.
 * Next hop: `routes/cookie-style.ts`, `routes/plugins.ts`.
 */

/** Beside the session: the device that is trusted, a sign-in that is half done, what plugins remember. */
const ours = /^(?:__Secure-)?authlib\./;

/** What nobody may bring along: the session, the library's cache of it, and its wish for a shorter one. */
const session = /^(?:__Secure-)?authlib\.(?:session_token|session_data(?:\.\d+)?|dont_remember)$/;

/** Whether a browser sent anything that stands for its user. */
export const hasCookies = (header: string | undefined): boolean =>
  pairsOf(header).some(([name]) => ours.test(name) || session.test(name));

/** The `Cookie` header for the library, without the session. */
export function withoutSession(header: string | undefined): string {
  const kept = pairsOf(header).filter(([name]) => ours.test(name) && !session.test(name));
  return kept.map((pair) => pair.join("=")).join("; ");
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

/** As in `session-cookie.ts`: one space may stand between two pairs, other blanks are part of a name. */
const pairsOf = (header = ""): [name: string, value: string][] =>
  header.split(";").flatMap((pair) => {
    // Not by one pattern: a header full of spaces would be searched anew from each of them.
    const text = pair.replace(/^ +/, "");
    const end = text.indexOf("=");
    return end > 0 ? [[text.slice(0, end), text.slice(end + 1)]] : [];
  });
