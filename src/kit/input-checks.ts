/** Helpers for checking untrusted objects: they collect issues and read own members only. */
import { type Issue, SvcError } from "./svc-error.ts";

export type Input = Record<string, unknown>;

/** Runs a reader that collects issues. @throws SvcError VALIDATION_FAILED with all of them */
export function check<T>(read: (issues: Issue[]) => T): T {
  const issues: Issue[] = [];
  const values = read(issues);
  if (issues.length > 0) throw new SvcError("VALIDATION_FAILED", undefined, { issues });
  return values;
}

export function toObject(input: unknown, issues: Issue[]): Input {
  if (isPlain(input)) return input;
  issues.push({ path: [], message: "must be an object" });
  return {};
}

export const isPlain = (value: unknown): value is Input =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** A number of rows, from 1 to `most`. Adds an issue for what is no number. */
export function rowLimit(given: unknown, most: number, path: Issue["path"], issues: Issue[]): number {
  if (typeof given !== "number" || Number.isNaN(given)) issues.push({ path, message: "must be a number" });
  return Math.trunc(Math.min(Math.max(Number(given) || 1, 1), most));
}

/** Inherited members, `__proto__` among them, are never input. */
export const own = (object: Input, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined);

function Empty() {}
Empty.prototype = Object.create(null);

/**
 * An object without inherited members, for names that an author chose. V8 gives that of Object.create(null) a hash table,
 * which takes more time and memory.
 */
export const emptyInput = () => new (Empty as unknown as new () => Input)();
