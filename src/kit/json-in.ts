/** Reads text that may not be JSON, such as what a client sends. */

/** @returns undefined for a text that is not JSON */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
