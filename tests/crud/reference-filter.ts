/**
 * Evaluates filters in memory, as simply as possible, written from docs/reference/filters.md and not from the SQL. The
 * property test compares both.
 */
import type { FilterColumn, Row } from "./filter-table.ts";
import {
  compare,
  isFraction,
  isJson,
  isPlain,
  likeText,
  Refused,
  readPattern,
  readStored,
  readValue,
  toText,
} from "./reference-values.ts";

export type Columns = Record<string, FilterColumn | Relation>;
export type Test = (row: Row) => boolean;

/** The visible rows behind a row, and the columns by which they are filtered. */
interface Relation {
  many: boolean;
  columns(): Columns;
  related(row: Row): Row[];
}
const isRelation = (column: FilterColumn | Relation | undefined): column is Relation =>
  column !== undefined && "related" in column;
const described = (columns: Columns, key: string) => (Object.hasOwn(columns, key) ? columns[key] : undefined);

/** The rows that match a filter. @throws Refused beyond a limit */
export function matching(columns: Columns, filters: unknown, rows: Row[]): number[] {
  return rows.filter(filterTest(columns, filters)).map((row) => row.id);
}

/** Whether a row matches a filter. A filter without valid conditions matches all rows. @throws Refused beyond a limit */
export function filterTest(columns: Columns, filters: unknown): Test {
  const patterns = patternsIn(columns, filters, 0);
  if (patterns.length > 20 || patterns.join("").length > 2_000) throw new Refused();
  return readObject(columns, filters, 0) ?? (() => true);
}

/** The patterns that are compared with the rows. */
function patternsIn(columns: Columns, filters: unknown, depth: number): string[] {
  if (!isPlain(filters) || depth > 5) return [];
  return Object.entries(filters).flatMap(([key, value]) => {
    if (key === "OR" || key === "AND") {
      return Array.isArray(value) ? value.flatMap((member) => patternsIn(columns, member, depth + 1)) : [];
    }
    const column = described(columns, key);
    if (isRelation(column)) {
      return membersOf(column, value).flatMap(([, member]) => patternsIn(column.columns(), member, depth + 1));
    }
    const isPattern = isPlain(value) && (value.op === "like" || value.op === "ilike");
    if (!isPattern || column?.kind !== "text" || column.array || typeof value.value !== "string") return [];
    return value.value.length <= 1_000 ? [value.value] : [];
  });
}

function readObject(columns: Columns, filters: unknown, depth: number): Test | null {
  if (!isPlain(filters)) return null;
  return all(
    Object.entries(filters).map(([key, value]) => {
      if (key === "OR" || key === "AND") return readGroup(columns, key, value, depth + 1);
      const column = described(columns, key);
      if (isRelation(column)) return readRelation(column, value, depth + 1);
      return column && isJson(value) ? readCondition(key, column, toText(value)) : null;
    }),
  );
}

function readGroup(columns: Columns, key: "OR" | "AND", members: unknown, depth: number): Test | null {
  if (depth > 5 || !Array.isArray(members)) return null;
  const tests = members.map((member) => readObject(columns, member, depth));
  return key === "AND" ? all(tests) : any(tests);
}

const membersOf = ({ many }: Relation, input: unknown): [string, unknown][] => {
  if (!isPlain(input)) return [];
  if (!many) return [["some", input]];
  return Object.entries(input).filter(([key]) => ["some", "none", "every"].includes(key));
};

/** An empty filter of `some` and `none` asks whether there are rows; one of which nothing is left is ignored. */
function readRelation(relation: Relation, input: unknown, depth: number): Test | null {
  if (depth > 5) return null;
  return all(
    membersOf(relation, input).map(([quantifier, member]): Test | null => {
      const isEmpty = isPlain(member) && Object.keys(member).length === 0;
      const asksForAny = relation.many && quantifier !== "every" && isEmpty;
      const test = readObject(relation.columns(), member, depth) ?? (asksForAny ? () => true : null);
      if (!test) return null;
      if (quantifier === "some") return (row) => relation.related(row).some(test);
      if (quantifier === "none") return (row) => !relation.related(row).some(test);
      return (row) => relation.related(row).every(test);
    }),
  );
}

function all(tests: (Test | null)[]): Test | null {
  const left = tests.filter((test) => test !== null);
  return left.length > 0 ? (row) => left.every((test) => test(row)) : null;
}

function any(tests: (Test | null)[]): Test | null {
  const left = tests.filter((test) => test !== null);
  return left.length > 0 ? (row) => left.some((test) => test(row)) : null;
}

const operators = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "ilike"];
const ordered = ["integer", "bigint", "number", "numeric", "timestamp", "date"];

function readCondition(property: string, column: FilterColumn, input: unknown): Test | null {
  const isOperator = isPlain(input) && operators.includes(input.op as string);
  if (isPlain(input) && !isOperator && (column.kind !== "json" || column.array)) return null;
  const op = isOperator ? (input.op as string) : "eq";
  const value = isOperator ? input.value : input;
  if (value === undefined) return null;

  const stored = (row: Row) => readStored(column, row[property] ?? null);
  if (op === "eq" || op === "ne") {
    const wanted = value === null ? null : readValue(column, value);
    if (wanted === undefined) return null;
    return (row) => (compare(stored(row), wanted) === 0) === (op === "eq");
  }
  if (column.array || column.kind === "json") return null;
  if (op === "in" || op === "nin") {
    if (!Array.isArray(value)) return null;
    if (value.length > 1000) throw new Refused();
    // A number beside digits in a text does not have the column's form.
    if (column.kind === "bigint" && value.some(isFraction) && value.some((item) => typeof item === "string"))
      return null;
    const wanted = value.map((item) => (item === null ? null : readValue(column, item)));
    if (wanted.includes(undefined)) return null;
    return (row) => {
      const found = stored(row);
      return wanted.some((item) => compare(found, item) === 0) === (op === "in");
    };
  }
  if (op === "like" || op === "ilike") {
    if (column.kind !== "text" || typeof value !== "string") return null;
    const pattern = readPattern(value, op === "ilike");
    return pattern && ((row) => row[property] != null && pattern(likeText(column, row[property] as string)));
  }
  const wanted = ordered.includes(column.kind) ? readValue(column, value) : undefined;
  if (wanted === undefined) return null;
  return (row) => {
    const found = stored(row);
    if (found === null) return false;
    const order = compare(found, wanted);
    return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[op] as boolean;
  };
}
