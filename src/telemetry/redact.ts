/** Redacts secrets in the application's log entries: by key at any depth, and by the shape of values (`mask.ts`). */
import { describeError } from "./describe-error.ts";
import { mask } from "./mask.ts";
import { Unredacted } from "./unredacted.ts";

export const censor = "[redacted]";

/** Part of a key, in any letter case: newPassword, set-cookie, X-Api-Key. */
const secretName = /passw|passphrase|secret|token|authorization|cookie|credential|jwt|api[-_]?key|private[-_]?key/i;

/** Maximum depth, and maximum number of values in one entry; the rest is not logged. */
const maxDepth = 8;
const maxValues = 2000;

/** @returns a copy without secrets, serializable as JSON */
export function redact(value: unknown): unknown {
  let left = maxValues;
  try {
    return copy(value, 0);
  } catch {
    return { unloggable: "a getter or toJSON threw" }; // a log line must not cause an error
  }

  function copy(value: unknown, depth: number): unknown {
    if (typeof value === "string") return mask(value);
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Date) return value;
    if (value instanceof Unredacted) return value.text;
    if (value instanceof Error) return describeError(value);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (depth >= maxDepth || --left < 0) return "[too much]";
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    if ("toJSON" in value && typeof value.toJSON === "function") return copy(value.toJSON(), depth + 1);
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, item]) => [key, conceal(key, item) ? censor : copy(item, depth + 1)]));
  }
}

/** A number (such as a count of tokens) or a boolean (such as the presence of a cookie) is not a secret. */
function conceal(key: string, value: unknown): boolean {
  return typeof value !== "number" && typeof value !== "boolean" && value != null && secretName.test(key);
}
