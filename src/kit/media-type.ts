/** Media types of bodies, and what `Accept` says of them. */

/** JSON by its own type, by a `+json` suffix, or by default where no type is given. */
export const isJson = (type: string) => type === "" || type === "application/json" || type.endsWith("+json");

/**
 * How much an `Accept` header wants a media type that it names, from 0 to 1. Wildcards do not count.
 *
 * @param accept the header; undefined: none was sent
 */
export function quality(accept: string | undefined, type: string): number {
  for (const range of (accept ?? "").toLowerCase().split(",")) {
    const [name, ...parameters] = range.split(";").map((part) => part.trim());
    if (name === type) return Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
  }
  return 0;
}
