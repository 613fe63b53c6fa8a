/** Parses the Range header. Source: RFC 9110, sections 13.1.5 and 14. */
import type { IncomingHttpHeaders } from "node:http";
import type { ByteRange } from "./drivers/driver.ts";

/** First and last byte, or the number of last bytes. */
const oneRange = /^bytes=[ \t]*(\d{0,20})-(\d{0,20})[ \t]*$/i;

/** @returns null to send the whole file: without a range, with several, with one of another version or an invalid one */
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
