/**
 * Defines a valid origin: exactly the text that a browser sends in `Origin`, so that two origins are compared by `===`.
 * Next hop: `load-config.ts` checks the configured origins here; the origin policy (CORS, trusted origins, OAuth
 * callbacks, WebSocket upgrade) builds on it.
 */

/** Either the origin, fit for `===`, or why it is refused: a sentence without subject, safe to show and to log. */
export type OriginCheck = { origin: string; reason?: never } | { origin?: never; reason: string };

/** Hosts that may speak http in production: their traffic never leaves the machine. */
const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1"]);

/**
 * Checks that a value is an exact bare origin, `scheme://host[:port]`. Nothing is repaired: an origin that would have
 * to be rewritten to match is refused, with the right spelling. A value that may hold a password is not repeated.
 *
 * @param value              anything; only strings can pass
 * @param options.production whether plain http is refused, except on localhost and 127.0.0.1
 * @source the spec's "Public origins"; the serialisation is that of WHATWG URL
 * @example
 * checkOrigin("https://app.example.com", { production: true }); // { origin: "https://app.example.com" }
 * checkOrigin("https://*.example.com", { production: true }); // { reason: "has a wildcard; …" }
 */
export function checkOrigin(value: unknown, { production }: { production: boolean }): OriginCheck {
  if (typeof value !== "string" || value === "") return { reason: "is not a text such as https://app.example.com" };
  if (value === "null") return { reason: 'is the origin of sandboxed pages and files ("null"), which anyone can have' };
  if (value.includes("*")) return { reason: "has a wildcard; list every origin by itself" };
  if (!URL.canParse(value)) return { reason: "is not a URL; write it as https://app.example.com" };

  const url = new URL(value);
  const bare = `write ${url.origin}`;
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    const remedy = "write it as https://app.example.com; for an app with another scheme see docs/reference/origins.md";
    return { reason: `does not start with https:// or http://; ${remedy}` };
  }
  // Check the raw text too: the parser drops an empty "@", "?" or "#".
  if (url.username || url.password || value.includes("@")) return { reason: `has a user name or password; ${bare}` };
  if (value.includes("#")) return { reason: `has a hash; ${bare}` };
  if (value.includes("?")) return { reason: `has a query string; ${bare}` };
  // Also a path that the parser removes, such as "/.".
  if (url.pathname !== "/" || /:\/\/[^/\\]+[/\\]/.test(value))
    return { reason: `has a path or a trailing slash; ${bare}` };
  if (production && url.protocol === "http:" && !LOCAL_HOSTS.has(url.hostname)) {
    return { reason: `uses http, which production refuses; write https://${url.host}` };
  }
  // Upper case, a default port, white space, an unencoded name: valid for the parser, but browsers never send it.
  if (value !== url.origin) return { reason: `is not spelled as browsers send it; ${bare}` };
  return { origin: url.origin };
}
