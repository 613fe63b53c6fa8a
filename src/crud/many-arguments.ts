/**
 * Checks the arguments of `updateMany` and `removeMany`, and the conditions of `aggregate` and exports. What a list would
 * ignore is an error here, because fewer conditions match more rows.
 * Next hop: `sql/crud/exact_filter.sql` for what only SQL knows about filters.
 */
import type { CrudDefinition } from "../contract/crud.ts";
import { type Input, isPlain, own } from "../kit/input-checks.ts";
import type { Issue } from "../kit/svc-error.ts";
import { toFilterJson } from "./crud-filters.ts";
import { checkFollowed } from "./related-arguments.ts";
import { maxLevels } from "./wire-kinds.ts";

/** Most rows of `updateMany` and `removeMany`. */
export const maxChanged = 10_000;

/** Unknown arguments that an error names. */
const maxUnknown = 10;

/** What the hooks returned for each row. A symbol: callers cannot send it. */
const hooked = Symbol("rows");

/** The function's first argument: `{ filters, max }`, or the rows that hooks have looked at. */
export function manyArguments(crud: CrudDefinition, object: Input, known: readonly string[], issues: Issue[]): string {
  if (hooked in object) return JSON.stringify({ rows: object[hooked as never] });
  checkKnown(object, known, issues);
  const filters = own(object, "filters");
  const max = own(object, "max");
  checkExact(crud, filters, issues);
  if (!Number.isInteger(max) || (max as number) < 1 || (max as number) > maxChanged) {
    issues.push({ path: ["max"], message: `must be a whole number from 1 to ${maxChanged}` });
  }
  return JSON.stringify({ filters: toFilterJson(filters, crud) ?? {}, max });
}

/** Refuses arguments that nothing reads: one of them may be meant as a condition, such as `where` or `search`. */
export function checkKnown(object: Input, known: readonly string[], issues: Issue[]): void {
  const others = Object.keys(object).filter((name) => !known.includes(name));
  for (const name of others.slice(0, maxUnknown)) {
    issues.push({ path: [name], message: `is no argument of this operation, which takes ${known.join(", ")}` });
  }
}

/** Refuses a search of a resource that has nothing to search. */
export function checkSearch(crud: CrudDefinition, search: unknown, issues: Issue[]): void {
  if (search === undefined || search === null || crud.searchFields.length > 0) return;
  issues.push({ path: ["search"], message: "is not offered: this resource has no searchFields" });
}

/** Refuses filters of which a part would be left out. */
export function checkExact(crud: CrudDefinition, filters: unknown, issues: Issue[]): void {
  if (!isPlain(filters)) {
    issues.push({ path: ["filters"], message: "must be an object; {} means all rows" });
    return;
  }
  checkFollowed(crud, filters, issues);
  if (sizeOf(toFilterJson(filters, crud) ?? {}) !== sizeOf(filters)) {
    issues.push({ path: ["filters"], message: "must not hold empty conditions, or values that JSON cannot hold" });
  }
}

/** The number of values, to notice that toFilterJson has left one out. NaN: they are nested deeper than it takes. */
function sizeOf(value: unknown, level = 0): number {
  if (typeof value !== "object" || value === null || value instanceof Date) return 1;
  if (level > maxLevels) return Number.NaN;
  return Object.values(value).reduce((sum: number, one) => sum + sizeOf(one, level + 1), 1);
}

/** The arguments that find the rows and change nothing. @param changes of an update */
export const dry = (args: unknown, ...changes: string[]): string[] => [
  JSON.stringify({ ...JSON.parse(String(args)), dry: true }),
  ...changes,
];

/** The input with what a hook returns for each row that the dry call found. */
export async function eachRow(
  input: unknown,
  found: string | null,
  hook: (id: string | number) => Promise<Input>,
): Promise<unknown> {
  const rows: Input[] = [];
  for (const id of JSON.parse(found ?? "{}").ids ?? []) rows.push(await hook(id));
  return { ...(input as Input), [hooked]: rows };
}
