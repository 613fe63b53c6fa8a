/**
 * Refuses JSON that is nested too deeply, before anything reads it: readers are recursive, from schemas to PostgreSQL, and
 * each ends with an exhausted stack at another depth. Every door that takes JSON calls this.
 */
import { SvcError } from "./svc-error.ts";

/** Levels of objects and lists. Arguments of procedures have a lower limit: `wireLimits.depth`. */
export const maxJsonDepth = 200;

const [quote, backslash] = [0x22, 0x5c];

/** @throws SvcError BAD_REQUEST */
export function requireShallowJson(json: Buffer | string): void {
  // Shorter than that many brackets and their ends.
  if (json.length < 2 * maxJsonDepth) return;
  const bytes = typeof json === "string" ? Buffer.from(json) : json;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === quote) at = endOfText(bytes, at);
    // "[" and "{", then "]" and "}": they differ in one bit.
    else if ((byte | 0x20) === 0x7b) {
      if (++depth > maxJsonDepth) throw tooDeep();
    } else if ((byte | 0x20) === 0x7d) depth--;
  }
}

/** The place of the quote that ends a text. @param at the place of the one that begins it */
function endOfText(bytes: Buffer, at: number): number {
  for (let end = bytes.indexOf(quote, at + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}

const tooDeep = () =>
  new SvcError("BAD_REQUEST", `The JSON is nested deeper than ${maxJsonDepth} levels.`, {
    hint: "Send a flatter value, or a text that holds this JSON.",
  });
