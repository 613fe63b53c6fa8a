/**
 * The option `aggregate` of `createCrud`: the groups and measures that callers may ask for, each with its SQL, and the
 * check of their arguments.
 * Next hop: `sql/crud/aggregate_rows.sql`, which puts the statement together.
 */
import type { AggregatePart, ColumnDescription, CrudDefinition } from "../contract/crud.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { check, type Input, isPlain, own, rowLimit, toObject } from "../kit/input-checks.ts";
import type { Issue } from "../kit/svc-error.ts";
import { isTimeZone } from "../kit/time-zone.ts";
import { quote } from "../postgres/schema-names.ts";
import { visibleColumns } from "./crud-definition.ts";
import { toFilterJson } from "./crud-filters.ts";
import { listArguments } from "./crud-list.ts";
import { comparable } from "./crud-resource.ts";
import { isJsonText } from "./crud-text.ts";
import type { CrudOptions } from "./crud-types.ts";
import { checkExact, checkKnown, checkSearch } from "./many-arguments.ts";
import { orderedKinds } from "./wire-kinds.ts";

/** Groups of an answer, and the most of them. */
export const aggregateLimits = { default: 100, max: 1_000 };

const units = ["hour", "day", "week", "month", "year"] as const;
const ungrouped = new Set(["json", "bytes", "vector"]);

type Parts = Record<string, AggregatePart>;

/** @throws DefinitionError for a column that does not exist or is hidden, and for a measure that it cannot have */
export function describeAggregate(
  table: string,
  columns: readonly ColumnDescription[],
  visible: ReadonlySet<string>,
  option: CrudOptions["aggregate"],
): CrudDefinition["aggregate"] {
  if (!option) return null;
  const shown = visibleColumns({ columns, visible });
  const fail = (where: string, problem: string, hint: string): never => {
    throw new DefinitionError(`createCrud: aggregate.${where} of "${table}" ${problem}`, { hint });
  };
  const find = (where: string, name: string, property: string): ColumnDescription =>
    shown.find((column) => column.property === property) ??
    fail(
      where,
      `names "${name}", but callers see no column "${property}".`,
      `The columns are ${shown.map((column) => column.property).join(", ")}.`,
    );
  const groups = (option.groupBy ?? []).flatMap((name): [string, AggregatePart][] => {
    const column = find("groupBy", name, name);
    if (!comparable(column) || ungrouped.has(column.kind)) {
      fail("groupBy", `names "${name}", whose values form no groups.`, "Name numbers, texts, enums, uuids or times.");
    }
    if (!isTime(column)) return [[name, { sql: `t.${quote(column.name)}`, text: isWide(column) }]];
    return units
      .filter((unit) => unit !== "hour" || column.kind === "timestamp")
      .map((unit) => [`${name}:${unit}`, { sql: bucket(column, unit), text: false }]);
  });
  const measures = option.measures.map((name): [string, AggregatePart] => {
    if (name === "count") return [name, { sql: "count(*)", text: false }];
    const [, by = "", property = ""] = /^(sum|avg|min|max):(.+)$/.exec(name) ?? [];
    if (!by) fail("measures", `names "${name}".`, "Write count, or sum, avg, min or max with a column: sum:amount.");
    const column = find("measures", name, property);
    const isSum = by === "sum" || by === "avg";
    if (column.isArray || !orderedKinds.has(column.kind) || (isSum && isTime(column))) {
      const problem = `names "${name}", but "${property}" is no ${isSum ? "number" : "number or time"}.`;
      fail("measures", problem, "Name a column that is one, or leave it out.");
    }
    return [name, measure(by, column)];
  });
  const [twin] = groups.find(([name]) => measures.some(([other]) => other === name)) ?? [];
  if (twin !== undefined) {
    const hint = "A group has one member of each name. Leave one of the two out.";
    fail("groupBy", `and aggregate.measures both name "${twin}".`, hint);
  }
  if (measures.length === 0) fail("measures", "is empty.", 'Name at least one, such as "count".');
  return { groups: Object.fromEntries(groups), measures: Object.fromEntries(measures) };
}

const isTime = ({ kind }: ColumnDescription) => kind === "timestamp" || kind === "date";
/** Whether JSON has another form for its values than the wire. */
const isWide = (column: ColumnDescription) =>
  column.kind === "bigint" || column.kind === "numeric" || (column.kind === "text" && !isJsonText(column));

/** A timestamp without time zone is read as UTC. */
const instant = (column: ColumnDescription, sql: string) =>
  column.kind === "timestamp" && !column.type.includes("with time zone") ? `(${sql} at time zone 'UTC')` : sql;

/** The beginning of the unit; $1 is the time zone. */
function bucket(column: ColumnDescription, unit: (typeof units)[number]): string {
  const value = instant(column, `t.${quote(column.name)}`);
  if (column.kind === "date") return `date_trunc('${unit}', ${value}::timestamp)::date`;
  if (unit === "hour") return `date_trunc('hour', ${value}, $1)`;
  return `date_trunc('${unit}', ${value} at time zone $1)::date`;
}

function measure(by: string, column: ColumnDescription): AggregatePart {
  const sql = `${by}(t.${quote(column.name)})`;
  if (by === "min" || by === "max") return { sql: instant(column, sql), text: isWide(column) };
  return { sql, text: column.kind !== "number" }; // the sum of integers is a bigint, their average a numeric
}

const taken = ["groupBy", "measures", "filters", "search", "orderBy", "limit", "timeZone"];

/** The SQL function's arguments. @throws SvcError VALIDATION_FAILED */
export function aggregateArguments(crud: CrudDefinition, input: unknown): Input {
  const { groups, measures } = crud.aggregate as NonNullable<CrudDefinition["aggregate"]>;
  return check((issues) => {
    const object = toObject(input, issues);
    checkKnown(object, taken, issues);
    const groupBy = names(groups, own(object, "groupBy") ?? [], "groupBy", issues);
    const measured = names(measures, own(object, "measures"), "measures", issues);
    if (measured.length === 0) issues.push({ path: ["measures"], message: "must name at least one" });
    const filters = own(object, "filters") ?? {};
    checkExact(crud, filters, issues);
    checkSearch(crud, own(object, "search"), issues);
    return {
      groupBy,
      measures: measured,
      filters: toFilterJson(filters, crud) ?? {},
      ...listArguments(crud, { search: own(object, "search") }),
      limit: rowLimit(own(object, "limit") ?? aggregateLimits.default, aggregateLimits.max, ["limit"], issues),
      timeZone: timeZone(own(object, "timeZone"), issues),
      ...orderOf([...groupBy, ...measured], own(object, "orderBy"), issues),
    };
  });
}

function names(known: Parts, value: unknown, option: string, issues: Issue[]): string[] {
  const list = Array.isArray(value) ? value : [];
  if (!Array.isArray(value)) issues.push({ path: [option], message: "must be a list" });
  for (const [index, name] of list.entries()) {
    if (typeof name === "string" && Object.hasOwn(known, name) && list.indexOf(name) === index) continue;
    issues.push({ path: [option, index], message: `must be one of ${Object.keys(known).join(", ")}, once` });
  }
  return list as string[];
}

/** By name only: PostgreSQL reads an offset such as +03:00 with the opposite sign. */
function timeZone(value: unknown, issues: Issue[]): string {
  const zone = value ?? "UTC";
  if (typeof zone === "string" && /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/.test(zone) && isTimeZone(zone)) return zone;
  issues.push({
    path: ["timeZone"],
    message: `must be the name of a time zone, such as Europe/Berlin; ${JSON.stringify(zone)} is not one`,
  });
  return "UTC";
}

function orderOf(asked: string[], value: unknown, issues: Issue[]): { orderBy?: string; orderDir?: unknown } {
  if (value === undefined || value === null) return {};
  const [[name, direction] = [], ...more] = isPlain(value) ? Object.entries(value) : [];
  const isOne = name !== undefined && more.length === 0 && asked.includes(name);
  if (isOne && (direction === "asc" || direction === "desc")) return { orderBy: name, orderDir: direction };
  issues.push({
    path: ["orderBy"],
    message: 'must be one of groupBy and measures with "asc" or "desc", such as { count: "desc" }',
  });
  return {};
}
