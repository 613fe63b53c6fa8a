/** The headers `Cookie` and `Set-Cookie` (RFC 6265bis), as far as servers that render pages need them. */

/** In characters, of the whole header. Servers refuse longer headers anyway. */
const longest = 65_536;

export interface CookiePair {
  name: string;
  value: string;
}

/** The cookies of a header, in order, undecoded. */
export function cookiePairs(header: string | null | undefined): CookiePair[] {
  if (typeof header !== "string" || header.length > longest) return [];
  return header.split(";").flatMap((pair) => {
    const equals = pair.indexOf("=");
    // Browsers put one space between two cookies. Other blanks are part of a name: taken away, they would let a name
    // through that the browser's own check of prefixes has not seen.
    return equals < 0 ? [] : [{ name: pair.slice(0, equals).replace(/^ +/, ""), value: pair.slice(equals + 1) }];
  });
}

/** Its value, or null. Two different values give null, because a neighbouring host has set one of them. */
export function cookieNamed(header: string | null | undefined, name: string): string | null {
  const values = new Set(cookiePairs(header).flatMap((pair) => (pair.name === name ? [pair.value] : [])));
  const [value = null] = values;
  return values.size === 1 ? value : null;
}

/** @param maxAge in seconds; 0 removes the cookie */
export function setCookie(name: string, value: string, maxAge: number, secure: boolean): string {
  return `${name}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}

/** By `get`, because the headers that Next gives have a member `headers` of their own. */
export const headersOf = (request: Request | Headers): Headers => ("get" in request ? request : request.headers);
