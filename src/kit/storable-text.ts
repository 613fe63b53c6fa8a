/** Text that PostgreSQL can store: without NUL and without halves of surrogate pairs. */

/** Replaces what cannot be stored by U+FFFD. For messages of errors, which may quote anything, such as a response. */
export const storableText = (value: unknown): string => textOf(value).replaceAll("\0", "\ufffd").toWellFormed();

/** Anything can be thrown: an object without a prototype is no text. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "What was thrown cannot be read.";
  }
}

/** An escape of NUL or of half of a surrogate pair, as JSON.stringify() writes it; not a backslash followed by text. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** Whether PostgreSQL can convert all texts of this JSON. @param json written by JSON.stringify() */
export const isStorableJson = (json: string): boolean => !unstorable.test(json);
