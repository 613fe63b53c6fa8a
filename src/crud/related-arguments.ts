/**
 * Checks `include` and `select` of lists and gets: what they name must exist, and what they ask for is bounded. Filters
 * through relations are checked in SQL like all filters; here they are only counted.
 * Next hop: `sql/crud/related_item.sql` builds the statement from the same names.
 */
import type { CrudDefinition } from "../contract/crud.ts";
import { type Input, isPlain, own, rowLimit } from "../kit/input-checks.ts";
import type { Issue } from "../kit/svc-error.ts";
import { toFilterJson } from "./crud-filters.ts";
import { sortableColumns } from "./crud-resource.ts";
import { tableName } from "./followed-tables.ts";

/** Relations below each other. */
const maxDepth = 3;
/** Relations that one call includes, at all levels together. */
const maxIncluded = 20;
/** Rows that one call may give at most, at all levels together: the product of the limits. */
const maxRows = 10_000;
/** Relations that the filters of one call follow, at all levels together. */
const maxFollowed = 20;

const quantifiers = ["some", "none", "every"];

/** What the checks of one call share. */
interface Reading {
  issues: Issue[];
  included: number;
  rows: number;
  /** Relations that filters follow. */
  followed: number;
}

/**
 * @param rows how many rows the call itself gives at most
 * @returns the arguments `include` and `select` as SQL takes them: only those that were given
 */
export function relatedArguments(crud: CrudDefinition, object: Input, rows: number, issues: Issue[]): Input {
  const followed = inFilters(crud, own(object, "filters")).length;
  const reading: Reading = { issues, included: 0, rows, followed };
  const result = shape(crud, object, rows, [], reading);
  if (reading.followed > maxFollowed) issues.push(followsTooMany);
  if (reading.included > maxIncluded) {
    issues.push({ path: ["include"], message: `must name at most ${maxIncluded} relations at all levels` });
  } else if (reading.rows > maxRows && reading.included > 0) {
    const message =
      `asks for up to ${reading.rows} rows, the limits of all levels multiplied; at most ${maxRows} are given. ` +
      "Lower limit of the list, or of the relations";
    issues.push({ path: ["include"], message });
  }
  return result;
}

/** `include` and `select` of one level. */
function shape(crud: CrudDefinition, object: Input, rows: number, path: string[], reading: Reading): Input {
  const selected = select(crud, own(object, "select"), path, reading.issues);
  const included = include(crud, own(object, "include"), rows, path, reading);
  return { ...(selected && { select: selected }), ...(included && { include: included }) };
}

/** The call is refused in the end, whatever the rest of it is. */
const refuse = (issues: Issue[], path: Issue["path"], message: string): Input => {
  issues.push({ path, message });
  return {};
};

function select(crud: CrudDefinition, value: unknown, path: string[], issues: Issue[]): object | undefined {
  if (value === undefined || value === null) return undefined;
  const shown = [...crud.visible].join(", ");
  if (!Array.isArray(value) || value.some((name) => typeof name !== "string")) {
    return refuse(issues, [...path, "select"], `must be a list of properties, of ${shown}`);
  }
  for (const [index, name] of value.entries()) {
    if (crud.visible.has(name)) continue;
    refuse(issues, [...path, "select", index], `must be a property of ${crud.prefix}: ${shown}`);
  }
  return value;
}

/** The members that ask for something. */
const asked = (value: Input) =>
  Object.entries(value).filter(([, one]) => one !== undefined && one !== null && one !== false);

function include(
  crud: CrudDefinition,
  value: unknown,
  rows: number,
  path: string[],
  reading: Reading,
): object | undefined {
  if (value === undefined || value === null) return undefined;
  const here = [...path, "include"];
  if (!isPlain(value)) return refuse(reading.issues, here, "must be an object such as { author: true }");
  const wanted = asked(value);
  if (wanted.length === 0) return undefined;
  if (here.filter((one) => one === "include").length > maxDepth) {
    return refuse(reading.issues, here, `must not be deeper than ${maxDepth} relations`);
  }
  const read = (name: string, one: unknown) =>
    name === "_count"
      ? counts(crud, one, [...here, name], reading)
      : included(crud, name, one, rows, [...here, name], reading);
  return Object.fromEntries(wanted.map(([name, one]) => [name, read(name, one)]));
}

function included(
  crud: CrudDefinition,
  name: string,
  one: unknown,
  rows: number,
  path: string[],
  reading: Reading,
): Input {
  const relation = crud.relations.get(name);
  if (!relation) {
    const known = [...crud.relations.keys()].join(", ") || "none: its createCrud has no include";
    return refuse(reading.issues, path, `is not a relation of ${crud.prefix}, which has ${known}`);
  }
  if (one !== true && !isPlain(one)) return refuse(reading.issues, path, "must be true, or an object of options");
  reading.included += 1;
  const options = one === true ? {} : one;
  if (relation.many) {
    onlyKeys(options, ["select", "include", "limit", "orderBy", "filters"], path, reading.issues);
    return rowsOf(relation.target, options, rows, path, reading);
  }
  onlyKeys(options, ["select", "include"], path, reading.issues);
  reading.rows += rows;
  return shape(relation.target, options, rows, path, reading);
}

/** Relations whose rows are counted: `{ comments: true, tags: { filters: { … } } }`. */
function counts(crud: CrudDefinition, value: unknown, path: string[], reading: Reading): Input {
  if (!isPlain(value)) return refuse(reading.issues, path, "must be an object such as { comments: true }");
  const count = (name: string, one: unknown): Input | true => {
    const relation = crud.relations.get(name);
    const place = [...path, name];
    if (!relation?.many) {
      const known = [...crud.relations].flatMap(([other, { many }]) => (many ? other : [])).join(", ") || "none";
      const message = `is not a relation of ${crud.prefix} to many rows, which has ${known}`;
      return refuse(reading.issues, place, message);
    }
    reading.included += 1;
    if (one === true) return true;
    if (!isPlain(one)) return refuse(reading.issues, place, "must be true, or { filters }");
    onlyKeys(one, ["filters"], place, reading.issues);
    const filters = toFilterJson(own(one, "filters"), relation.target);
    reading.followed += inFilters(relation.target, filters).length;
    return filters === undefined ? true : { filters };
  };
  return Object.fromEntries(asked(value).map(([name, one]) => [name, count(name, one)]));
}

/** A relation that leads to several rows. */
function rowsOf(target: CrudDefinition, options: Input, rows: number, path: string[], reading: Reading): Input {
  const given = own(options, "limit") ?? target.defaultLimit;
  const limit = rowLimit(given, target.maxLimit, [...path, "limit"], reading.issues);
  reading.rows += rows * limit;
  const orderBy = own(options, "orderBy");
  if (orderBy !== undefined) checkOrder(target, orderBy, [...path, "orderBy"], reading.issues);
  const filters = toFilterJson(own(options, "filters"), target);
  reading.followed += inFilters(target, filters).length;
  return {
    limit,
    ...(orderBy !== undefined && { orderBy }),
    ...(filters !== undefined && { filters }),
    ...shape(target, options, rows * limit, path, reading),
  };
}

function checkOrder(target: CrudDefinition, value: unknown, path: string[], issues: Issue[]): void {
  const names = sortableColumns(target).map(({ property }) => property);
  const [[name, direction] = [], ...more] = Object.entries(Object(value));
  if (!isPlain(value) || more.length > 0 || (direction !== "asc" && direction !== "desc")) {
    issues.push({ path, message: 'must be one property with "asc" or "desc", such as { createdAt: "desc" }' });
  } else if (!names.includes(String(name))) {
    issues.push({ path: [...path, String(name)], message: `must be a property to sort by: ${names.join(", ")}` });
  }
}

function onlyKeys(options: Input, known: string[], path: string[], issues: Issue[]): void {
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) issues.push({ path: [...path, key], message: `is not an option: ${known.join(", ")}` });
  }
}

/** A relation that the input of a list or get follows, with the path to it. */
interface Followed {
  path: string;
  relation: NonNullable<ReturnType<CrudDefinition["relations"]["get"]>>;
}

/** The relations that the arguments include or filter by. @param input of any shape */
function followedRelations(crud: CrudDefinition, input: unknown): Followed[] {
  if (crud.relations.size === 0) return [];
  const { include: included, filters } = Object(input) as Input;
  const { _count: counted, ...others } = Object(included) as Input;
  const found = [...Object.entries(others), ...Object.entries(Object(counted))].flatMap(([name, one]): Followed[] => {
    const relation = crud.relations.get(name);
    if (!relation || !one) return [];
    const deeper = followedRelations(relation.target, one).map((inner) => ({
      ...inner,
      path: `${name}.${inner.path}`,
    }));
    return [{ path: name, relation }, ...deeper];
  });
  return [...found, ...inFilters(crud, filters)];
}

function inFilters(crud: CrudDefinition, filters: unknown): Followed[] {
  if (crud.relations.size === 0 || typeof filters !== "object" || filters === null) return [];
  return Object.entries(filters).flatMap(([name, value]): Followed[] => {
    if (name === "OR" || name === "AND") {
      return Array.isArray(value) ? value.flatMap((one) => inFilters(crud, one)) : [];
    }
    const relation = crud.relations.get(name);
    if (!relation) return [];
    const members = relation.many ? quantifiers.map((key) => Object(value)[key]) : [value];
    const deeper = members.flatMap((one) => inFilters(relation.target, one));
    return [{ path: name, relation }, ...deeper.map((inner) => ({ ...inner, path: `${name}.${inner.path}` }))];
  });
}

/** Each relation in filters is a sub-select that PostgreSQL has to plan. */
const followsTooMany: Issue = {
  path: ["filters"],
  message: `must follow at most ${maxFollowed} relations, with those of filters inside include`,
};

export function checkFollowed(crud: CrudDefinition, filters: unknown, issues: Issue[]): void {
  if (inFilters(crud, filters).length > maxFollowed) issues.push(followsTooMany);
}

/** The path to the first relation of the input whose resource needs a session. */
export const closedRelation = (crud: CrudDefinition, input: unknown): string | undefined =>
  followedRelations(crud, input).find(({ relation }) => !relation.target.anonymous)?.path;

/**
 * Whether a get reads the row with its id and no other of its table, so that the changes of this row are all to be told. Not
 * if it finds the row by another key, includes rows of the same table, or has an id that equals other texts.
 */
export function isOneRow(crud: CrudDefinition, input: unknown): boolean {
  const { id } = Object(input) as Input;
  const isSame = crud.id.kind !== "text" || ["text", "varchar"].includes(crud.id.castType);
  const readsOthers = followedRelations(crud, input).some(
    ({ relation: { target } }) => target.table === crud.table && target.schema === crud.schema,
  );
  return id !== undefined && isSame && !readsOthers;
}

/** The tables of the rows that the arguments include or filter by, join tables among them. */
export function relatedTables(crud: CrudDefinition, input: unknown): string[] {
  const tables = followedRelations(crud, input).flatMap(({ relation: { target, through } }) => [
    tableName({ schema: target.schema, name: target.table }),
    ...(through ? [tableName({ schema: through.schema, name: through.table })] : []),
  ]);
  return [...new Set(tables)];
}
