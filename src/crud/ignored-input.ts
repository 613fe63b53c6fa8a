/**
 * For development: generated operations ignore arguments, keys of rows and conditions of lists that are not allowed. This
 * says which, once in the log and with each answer; the SDK prints it in the browser's console.
 * Next hop: `docs/reference/filters.md` and `crud-input.ts` state what is ignored.
 */

import type { Logger } from "pino";
import type { ColumnDescription, CrudDefinition, WireKind } from "../contract/crud.ts";
import { isPlain } from "../kit/input-checks.ts";
import { isNear } from "../kit/nearest.ts";
import { onePer } from "../kit/one-per.ts";
import { findColumn, visibleColumns, writableColumns } from "./crud-definition.ts";
import { filterOperators, toFilterJson } from "./crud-filters.ts";
import { sortableColumns } from "./crud-resource.ts";
import { orderedKinds, wireForms } from "./wire-kinds.ts";

/** Texts that were already logged. */
const logged = onePer((_: Logger) => new Set<string>());
const maxLogged = 1_000;

/** Said of one call. */
const maxNamed = 10;

/** @param input as the client sent it @returns undefined if nothing is ignored */
export function noteIgnored(
  log: Logger,
  { name: operation, crud }: { name: string; crud?: CrudDefinition | undefined },
  input: unknown,
): string | undefined {
  if (!crud) return undefined;
  const ignored = sayIgnored(crud, operation, input);
  const known = logged(log);
  for (const { name, say } of ignored) {
    // What a caller wrote does not reach the log, names of columns and relations apart.
    const isOurs = crud.relations.has(name) || findColumn(crud, name) !== undefined;
    const text = say(isOurs ? name : undefined);
    if (known.has(text) || known.size >= maxLogged) continue;
    known.add(text);
    log.warn({ operation }, text);
  }
  return ignored.length > 0 ? ignored.map(({ name, say }) => say(name)).join("\n") : undefined;
}

const listArguments = ["page", "limit", "search", "orderBy", "orderDir", "filters", "cursor", "include", "select"];

interface Ignored {
  readonly name: string;
  /** @param shown the name; undefined: without it */
  readonly say: (shown: string | undefined) => string;
}

/** @param what comes before its name @param unnamed instead of both @param advice ends the sentence, or follows it */
const ignoring = (operation: string, name: string, what: string, unnamed: string, advice: string): Ignored => ({
  name,
  say: (shown) => `"${operation}" ignores ${shown === undefined ? unnamed : `${what}${quoted(shown)}`}${advice}`,
});

function sayIgnored(crud: CrudDefinition, operation: string, input: unknown): Ignored[] {
  switch (operation.slice(operation.lastIndexOf(".") + 1)) {
    case "list":
      return [
        ...sayArguments(crud, operation, input, listArguments),
        ...sayFilters(crud, operation, Object(input).filters),
        ...sayOrder(crud, operation, Object(input).orderBy),
      ];
    case "get":
      return sayArguments(crud, operation, input, [...new Set(["id", ...crud.getBy.flat()]), "include", "select"]);
    case "create":
      return sayKeys(crud, operation, input, []);
    case "update": {
      // A row that was read and is sent back whole has more than may be written.
      const read = visibleColumns(crud).map(({ property }) => property);
      return sayKeys(crud, operation, input, ["id", "ifUnmodifiedSince", ...read, ...crud.relations.keys()]);
    }
    default:
      return [];
  }
}

/** A list takes all rows for `filter`, which is meant as `filters`. */
function sayArguments(crud: CrudDefinition, operation: string, input: unknown, taken: readonly string[]): Ignored[] {
  if (!isPlain(input)) return [];
  const unknown = Object.keys(input).filter((name) => !taken.includes(name));
  const hasNoFields = taken.includes("search") && crud.searchFields.length === 0 && Boolean(input.search);
  return [
    ...(hasNoFields
      ? [{ name: "search", say: () => `"${operation}" ignores the search: its createCrud has no searchFields.` }]
      : []),
    ...unknown.slice(0, maxNamed).map((name) => {
      const advice = `. ${nearOf(name, taken)}It takes ${taken.join(", ")}.`;
      return ignoring(operation, name, "the argument ", "an argument of the call", advice);
    }),
  ];
}

function sayKeys(crud: CrudDefinition, operation: string, input: unknown, also: readonly string[]): Ignored[] {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return [];
  const writable = writableColumns(crud).map(({ property }) => property);
  const known = new Set([...writable, ...also]);
  return Object.keys(input)
    .filter((key) => !known.has(key))
    .slice(0, maxNamed)
    .map((name) => {
      const advice = `, which callers cannot write. ${nearOf(name, writable)}They can write ${writable.join(", ")}.`;
      return ignoring(operation, name, "", "a key of the call", advice);
    });
}

function sayFilters(crud: CrudDefinition, operation: string, filters: unknown): Ignored[] {
  const allowed = [...crud.allowedFilters, ...crud.relations.keys()];
  const conditions = conditionsIn(filters, 0);
  const names = [...new Set(conditions.map(([name]) => name))].filter((name) => !allowed.includes(name));
  return [
    ...(isTooDeep(filters, 0)
      ? [{ name: "filters", say: () => `"${operation}" ignores groups of filters beyond 5 levels.` }]
      : []),
    ...names.slice(0, maxNamed).map((name) => {
      const advice = `. ${nearOf(name, allowed)}Name it in allowedFilters of its createCrud, or leave it out.`;
      return ignoring(operation, name, "the filter ", "a filter of the call", advice);
    }),
    ...conditions.flatMap(([name, condition]) => sayCondition(crud, operation, name, condition)).slice(0, maxNamed),
  ];
}

function sayOrder(crud: CrudDefinition, operation: string, name: unknown): Ignored[] {
  const known = sortableColumns(crud).map(({ property }) => property);
  if (typeof name !== "string" || known.includes(name)) return [];
  const advice = `. ${nearOf(name, known)}It takes ${known.join(", ")}.`;
  return [ignoring(operation, name, "orderBy ", "an orderBy", advice)];
}

/** A condition whose form its column does not accept. */
function sayCondition(crud: CrudDefinition, operation: string, name: string, condition: unknown): Ignored[] {
  const column = findColumn(crud, name);
  if (!column || !crud.allowedFilters.includes(name)) return [];
  const wrong = wrongIn(column, condition);
  return wrong ? [{ name, say: () => `"${operation}" ignores the filter "${name}": ${wrong}` }] : [];
}

function wrongIn(column: ColumnDescription, condition: unknown): string | undefined {
  if (Array.isArray(condition) && !isWhole(column)) return 'write { op: "in", value: […] } for a list of values.';
  if (!isPlain(condition)) return wrongOperand(column, "eq", condition);
  if (operators.includes(condition.op)) return wrongOperand(column, String(condition.op), condition.value);
  if (column.kind === "json" && !column.isArray) return undefined;
  return `write a value, or { op, value } with an op of ${filterOperators.join(", ")}.`;
}

function wrongOperand(column: ColumnDescription, op: string, value: unknown): string | undefined {
  if (value === undefined) return "its value is missing.";
  if (value === null && isExact(op)) return undefined;
  if (!hasOperator(column, op)) return `its column has no operator ${op}.`;
  if (isOfList(op) && !Array.isArray(value)) return `the operator ${op} takes a list of values.`;
  if (column.isArray) return wrongInArray(column, value);
  if (op.endsWith("like") && endsInEscape(String(value))) return "its pattern ends in a single \\.";
  const given: unknown[] = isOfList(op) ? (value as unknown[]).filter((one) => one !== null) : [value];
  return given.every((one) => hasForm(column, one)) ? undefined : `its value must be ${expectedOf(column)}.`;
}

/** Whether values of the column are compared as a whole. */
const isWhole = ({ kind, isArray }: ColumnDescription) => isArray || kind === "json";
const isExact = (op: string) => op === "eq" || op === "ne";
const isOfList = (op: string) => op === "in" || op === "nin";

function hasOperator(column: ColumnDescription, op: string): boolean {
  if (isExact(op)) return true;
  if (isWhole(column)) return false;
  if (isOfList(op)) return true;
  return op.endsWith("like") ? column.kind === "text" : orderedKinds.has(column.kind);
}

function wrongInArray(column: ColumnDescription, value: unknown): string | undefined {
  if (column.dimensions > 1) return "an array of arrays can only be compared with null.";
  if (!Array.isArray(value)) return "its value must be an array.";
  const isItem = (one: unknown) => one === null || isTaken(column, toFilterJson({ one })?.one);
  return value.every(isItem) ? undefined : `each item of its value must be ${expectedOf(column)}.`;
}

const operators: readonly unknown[] = filterOperators;

/** PostgreSQL refuses a pattern whose last character escapes nothing. */
const endsInEscape = (pattern: string) => (/\\*$/.exec(pattern)?.[0].length ?? 0) % 2 === 1;

/** Filters take more numbers than columns do: 2.5 has a place in the order of integers. Larger ones have lost digits. */
function hasForm(column: ColumnDescription, value: unknown): boolean {
  if (column.kind === "integer") return Number.isFinite(value);
  if (column.kind === "bigint" && typeof value === "number") return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return isTaken(column, toFilterJson({ value })?.value);
}

/** As svc_hidden.filter_value() takes values: of a time, fewer forms than a column does. */
function isTaken({ kind, type, values, limit }: ColumnDescription, value: unknown): boolean {
  if (wireForms[isTime(kind) ? "timestamp" : kind].accept(value, values) === undefined) return false;
  if (isTime(kind)) return !String(value).includes(":") || clock.test(String(value));
  if (kind === "integer") return limit?.holds(value) ?? true;
  return !isReal(type) || Math.abs(Number(value)) <= 3.4028235e38;
}

const isReal = (type: string) => /^(real|float4)\b/.test(type);
/** A filter of a date takes times too, and of each its day in UTC. */
const isTime = (kind: WireKind) => kind === "timestamp" || kind === "date";
const clock = /[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4])(:?[0-5]\d)?)?$/;

/** Ends the sentence "… must be". */
function expectedOf({ kind, type, limit }: ColumnDescription): string {
  if (kind === "timestamp") return `${wireForms[kind].expects}, with an hour from 00 to 23`;
  return ((isReal(type) || kind === "integer") && limit?.expects) || wireForms[kind].expects;
}

const quoted = (name: string) => JSON.stringify(name.slice(0, 64));

function nearOf(name: string, known: readonly string[]): string {
  const near = known.find((one) => isNear(name.slice(0, 64), one));
  return near ? `Did you mean "${near}"? ` : "";
}

function isTooDeep(filters: unknown, depth: number): boolean {
  if (typeof filters !== "object" || filters === null) return false;
  return Object.entries(filters).some(
    ([name, value]) =>
      ["OR", "AND"].includes(name) &&
      Array.isArray(value) &&
      (depth === 5 || value.some((one) => isTooDeep(one, depth + 1))),
  );
}

function conditionsIn(filters: unknown, depth: number): [name: string, condition: unknown][] {
  if (typeof filters !== "object" || filters === null || depth > 5) return [];
  return Object.entries(filters).flatMap(([name, value]): [string, unknown][] =>
    ["OR", "AND"].includes(name) && Array.isArray(value)
      ? value.flatMap((one) => conditionsIn(one, depth + 1))
      : [[name, value]],
  );
}
