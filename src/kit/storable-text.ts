/** Text that PostgreSQL can store: without NUL and without halves of surrogate pairs. */

export const isStorableText = (value: unknown): value is string =>
  typeof value === "string" && !value.includes("\0") && value.isWellFormed();

/** Replaces what cannot be stored by U+FFFD. For messages of errors, which may quote anything, such as a response. */
export const storableText = (value: unknown): string => textOf(value).replaceAll("\0", "\ufffd").toWellFormed();

/** In characters, of a stored message of an error: it may quote a whole response. */
export const longestMessage = 10_000;

const unreadable = "What was thrown cannot be read.";

/** Anything can be thrown: an object without a prototype is no text. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return unreadable;
  }
}

/**
 * What was thrown, or an error in its place if it cannot be read: a getter of it, or a trap of a Proxy, throws. What reads
 * it later, such as graphile-worker, would fail instead of the job.
 */
export function readableError(thrown: unknown): unknown {
  try {
    let current = thrown as (Error & { code?: unknown }) | null | undefined;
    for (let causes = 0; current !== null && current !== undefined && causes < 10; causes++) {
      if (current instanceof Error) void [current.name, current.message, current.stack, current.code];
      current = current.cause as typeof current;
    }
    return thrown;
  } catch {
    return new Error(unreadable);
  }
}

/** An escape of NUL or of half of a surrogate pair, as JSON.stringify() writes it; not a backslash followed by text. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** Whether PostgreSQL can convert all texts of this JSON. @param json written by JSON.stringify() */
export const isStorableJson = (json: string): boolean => !unstorable.test(json);
