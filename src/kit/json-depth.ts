/**
 * Refuses JSON that is nested too deeply, before anything reads it: readers are recursive, from schemas to PostgreSQL, and
 * each ends with an exhausted stack at another depth. Every door that takes JSON calls this.
 */
import { SvcError } from "./svc-error.ts";

/** Levels of objects and lists. Arguments of procedures have a lower limit: `wireLimits.depth`. */
export const maxJsonDepth = 200;

const quote = 0x22;
const backslash = 0x5c;

/** @throws SvcError BAD_REQUEST */
export function requireShallowJson(json: Buffer | string): void {
  // Shorter than that many brackets and their ends.
  if (json.length < 2 * maxJsonDepth) return;
  const bytes = typeof json === "string" ? Buffer.from(json) : json;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (isText) {
      if (byte === quote) isText = false;
      else if (byte === backslash) at++;
    } else if (byte === quote) isText = true;
    // "[" and "{", then "]" and "}": they differ in one bit.
    else if ((byte | 0x20) === 0x7b) {
      if (++depth > maxJsonDepth) throw tooDeep();
    } else if ((byte | 0x20) === 0x7d) depth--;
  }
}

/** Whether a value has more levels of objects and lists. Uses a list instead of recursion. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  let level = typeof value === "object" && value !== null ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= levels) return true;
    const inner: object[] = [];
    for (const item of level) {
      for (const member of Object.values(item)) {
        if (typeof member === "object" && member !== null) inner.push(member);
      }
    }
    level = inner;
  }
  return false;
}

/** The same for a value that another reader has parsed. @throws SvcError BAD_REQUEST */
export function requireShallow(value: unknown): void {
  if (isNestedDeeper(value, maxJsonDepth)) throw tooDeep();
}

const tooDeep = () =>
  new SvcError("BAD_REQUEST", `The JSON is nested deeper than ${maxJsonDepth} levels.`, {
    hint: "Send a flatter value, or a text that holds this JSON.",
  });
