/** Parses `If-None-Match` (RFC 9110, section 13.1.2) for every endpoint that sends an `ETag`. */

/** A tag may contain commas. */
const tag = /(?:W\/)?("[^"]*")/g;

/**
 * Whether the client has this version already: the answer to GET and HEAD is then 304. The comparison is weak, as the
 * RFC says. `*` stands for any version.
 *
 * @param condition the header's value
 * @param etag of the current answer
 * @example
 * isKnown('W/"a", "b"', '"b"'); // true
 */
export function isKnown(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  if (condition.trim() === "*") return true;
  const opaque = etag.replace(/^W\//, "");
  return [...condition.matchAll(tag)].some(([, known]) => known === opaque);
}
