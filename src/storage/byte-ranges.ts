/** The Range header: which bytes of a file a request is about. Source: RFC 9110, sections 13.1.5 and 14. */
import type { IncomingHttpHeaders } from "node:http";
import type { ByteRange } from "./drivers/driver.ts";

/** First and last byte, or the number of last bytes. */
const oneRange = /^bytes=[ \t]*(\d{0,20})-(\d{0,20})[ \t]*$/i;

/**
 * @returns null when all of it is to be sent: no range, several at once, one of another version, or one that makes no sense
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  { size, etag }: { size: number; etag: string },
): ByteRange | "unsatisfiable" | null {
  if (headers.range === undefined) return null;
  if (headers["if-range"] !== undefined && headers["if-range"] !== etag) return null;
  const [, first = "", last = ""] = oneRange.exec(headers.range) ?? [];
  if (first === "" && last === "") return null;
  const range =
    first === ""
      ? { start: Math.max(0, size - Number(last)), end: size - 1 }
      : { start: Number(first), end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
  return range.start >= size || range.end < range.start ? "unsatisfiable" : range;
}
