/**
 * Answers lists, gets and aggregates of relational-world.ts in memory, as simply as possible, from all rows and the
 * policies as predicates. Written from docs/reference/crud.md and not from the SQL.
 */
import type { Columns } from "./reference-filter.ts";
import { filterTest } from "./reference-filter.ts";
import type { Options, Relation, Row, Table } from "./relational-types.ts";

// biome-ignore lint/suspicious/noExplicitAny: arguments as a client sends them
export type Args = Record<string, any>;
export type User = string | null;
export interface Call {
  table: Table;
  operation: "list" | "get" | "aggregate";
  args: Args;
}
interface Refused {
  status: 400 | 401;
}
interface Given {
  status: 200;
  json: unknown;
}

/** @param skipped rows before the page, for a list with a cursor */
export function expected({ table, operation, args }: Call, user: User, skipped?: number): Refused | Given {
  const options = optionsOf(table);
  const relations = included(table, args.include);
  const followed = [...inFilters(table, args.filters), ...inIncluded(table, args.include)];
  if (
    user === null &&
    [options, ...[...relations, ...followed].map((one) => optionsOf(one.target))].some((one) => !one.allowAnonymous)
  ) {
    return { status: 401 };
  }
  if (operation === "aggregate") return { status: 200, json: groups(table, args, user) };
  const size = operation === "get" ? 1 : clamp(args.limit ?? options.defaultLimit, options.maxLimit);
  const asked = size + rowsAsked(table, args.include, size);
  if (isDeep(args.include, 3) || relations.length > 20 || followed.length > 20) return { status: 400 };
  if (relations.length > 0 && asked > 10_000) return { status: 400 };
  if (operation === "get") {
    const row = visible(table, user).find(({ id }) => id === args.id);
    return { status: 200, json: row ? shape(table, row, args, user) : null };
  }
  const found = visible(table, user)
    .filter(searched(table, args.search))
    .filter(filterTest(columns(table, user), args.filters));
  found.sort(orderOf(table, args.orderBy, args.orderDir ?? "desc"));
  const start = skipped ?? (Math.max(args.page ?? 1, 1) - 1) * size;
  const data = found.slice(start, start + size).map((row) => shape(table, row, args, user));
  return { status: 200, json: { data, total: options.count === "none" ? null : found.length } };
}

const optionsOf = ({ options }: Table) => options as Options;
const clamp = (limit: number, max: number) => Math.min(Math.max(limit, 1), max);
const given = (include: Args | undefined) => Object.entries(include ?? {}).filter(([, one]) => one);
/** Relations whose rows are included. */
const entriesOf = (include: Args | undefined) => given(include).filter(([name]) => name !== "_count");
/** Relations whose rows are counted. */
const countsOf = (include: Args | undefined) => given(include?._count);
const relationOf = (table: Table, name: string) => table.relations.get(name) as Relation;

/** Softly deleted rows are not there; policies do not know of them. */
function visible(table: Table, user: User): Row[] {
  const gone = table.options?.softDelete;
  return table.rows.filter((row) => table.policy.sees(row, user) && !(gone && (row[gone] ?? false) !== false));
}

/** The rows of the table that the caller may see behind a row. */
function related({ target, local, foreign, through }: Relation, row: Row, user: User): Row[] {
  const meet = (a: Row, own: string[], b: Row, theirs: string[]) =>
    own.every((name, at) => a[name] !== null && a[name] === b[theirs[at] as string]);
  const rows = visible(target, user);
  if (!through) return rows.filter((one) => meet(row, local, one, foreign));
  const links = visible(through.table, user).filter((link) => meet(row, local, link, through.local));
  return rows.filter((one) => links.some((link) => meet(link, through.foreign, one, foreign)));
}

/** A row with its selected columns and included relations. */
function shape(table: Table, row: Row, args: Args, user: User): Row {
  const names = optionsOf(table).visible.filter((name) => !args.select || args.select.includes(name));
  const more = entriesOf(args.include).map(([name, wanted]) => {
    const relation = relationOf(table, name);
    const { target, many } = relation;
    const inner = wanted === true ? {} : wanted;
    const rows = related(relation, row, user);
    if (!many) {
      const [first] = rows.sort(orderOf(target, undefined, "desc"));
      return [name, first ? shape(target, first, inner, user) : null];
    }
    const [[orderBy, direction] = []] = Object.entries(inner.orderBy ?? {}) as [string, "asc" | "desc"][];
    const { defaultLimit, maxLimit } = optionsOf(target);
    const kept = rows
      .filter(filterTest(columns(target, user), inner.filters))
      .sort(orderOf(target, orderBy, direction ?? "desc"))
      .slice(0, clamp(inner.limit ?? defaultLimit, maxLimit));
    return [name, kept.map((one) => shape(target, one, inner, user))];
  });
  const counts = countsOf(args.include).map(([name, { filters }]) => {
    const relation = relationOf(table, name);
    return [name, related(relation, row, user).filter(filterTest(columns(relation.target, user), filters)).length];
  });
  const counted = args.include?._count ? [["_count", Object.fromEntries(counts)]] : [];
  return Object.fromEntries([...names.map((name) => [name, row[name]]), ...more, ...counted]) as Row;
}

/** What filters may name. */
function columns(table: Table, user: User): Columns {
  const own = table.columns
    .filter(({ property }) => optionsOf(table).allowedFilters.includes(property))
    .map(({ property, name, type, kind }) => [property, { name, type, kind, array: false, values: null }]);
  const others = [...table.relations].map(([name, relation]) => [
    name,
    {
      many: relation.many,
      columns: () => columns(relation.target, user),
      related: (row: Row) => related(relation, row, user),
    },
  ]);
  return Object.fromEntries([...own, ...others]);
}

function searched(table: Table, search = ""): (row: Row) => boolean {
  const fields = optionsOf(table).searchFields;
  if (fields.length === 0 || search === "") return () => true;
  return (row) =>
    fields.some((field) => row[field] !== null && String(row[field]).toLowerCase().includes(search.toLowerCase()));
}

/** As numbers where the column has them: their texts have another order. */
const comparable = (kind: string | undefined, value: unknown) =>
  kind === "bigint" || kind === "sum"
    ? BigInt(value as string)
    : kind === "numeric"
      ? Number(value)
      : (value as string);

function compare(kind: string | undefined, a: unknown, b: unknown, direction: "asc" | "desc"): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return comparable(kind, a) < comparable(kind, b) === (direction === "asc") ? -1 : 1;
}

/** A property that callers do not see is none to them, unless it is the default. */
function orderOf(table: Table, orderBy: unknown, direction: "asc" | "desc"): (a: Row, b: Row) => number {
  const usual = table.columns.some(({ property }) => property === "createdAt") ? "createdAt" : "id";
  const isKnown = optionsOf(table).visible.includes(orderBy as string);
  const by = [isKnown ? (orderBy as string) : usual, "id"].map((name) => ({ name, kind: kindOf(table, name) }));
  return (a, b) => by.map(({ name, kind }) => compare(kind, a[name], b[name], direction)).find((one) => one !== 0) ?? 0;
}

const kindOf = (table: Table, name: string) => table.columns.find(({ property }) => property === name)?.kind;

function groups(table: Table, args: Args, user: User) {
  const { groupBy = [], measures, filters = {}, orderBy, limit = 100 } = args;
  const rows = visible(table, user).filter(filterTest(columns(table, user), filters));
  const byKey = new Map<string, Row[]>(groupBy.length === 0 ? [["[]", []]] : []);
  for (const row of rows) {
    const key = JSON.stringify(groupBy.map((name: string) => groupValue(row, name)));
    byKey.set(key, [...(byKey.get(key) ?? []), row]);
  }
  const kindOfPart = (name: string) => {
    const [by = "", property = ""] = name.split(":");
    if (by === "count") return "integer";
    return by === "sum" ? "sum" : kindOf(table, measures.includes(name) ? property : by);
  };
  const found = [...byKey].map(([key, members]) => {
    const keys = (JSON.parse(key) as unknown[]).map((value, at) => [groupBy[at], value]);
    return Object.fromEntries([...keys, ...measures.map((name: string) => [name, measured(table, members, name)])]);
  });
  const [[first, direction] = []] = Object.entries(orderBy ?? {}) as [string, "asc" | "desc"][];
  const order = [...(first ? [[first, direction]] : []), ...groupBy.map((name: string) => [name, "asc"])] as [
    string,
    "asc" | "desc",
  ][];
  found.sort(
    (a, b) => order.map(([name, by]) => compare(kindOfPart(name), a[name], b[name], by)).find((one) => one !== 0) ?? 0,
  );
  return { data: found.slice(0, limit), hasMore: found.length > limit };
}

const groupValue = (row: Row, name: string) => {
  const [property = "", unit] = name.split(":");
  const value = row[property];
  return unit && value !== null
    ? String(value).slice(0, unit === "day" ? 10 : 7) + (unit === "day" ? "" : "-01")
    : value;
};

function measured(table: Table, rows: Row[], name: string): unknown {
  if (name === "count") return rows.length;
  const [by, property = ""] = name.split(":");
  const kind = kindOf(table, property);
  const values = rows.map((row) => row[property]).filter((value) => value !== null);
  if (values.length === 0) return null;
  if (by === "sum") return String(values.reduce((sum: bigint, value) => sum + BigInt(value as string), 0n));
  return values.sort((a, b) => compare(kind, a, b, by === "min" ? "asc" : "desc"))[0];
}

/** Every relation that `include` names, at all levels. */
const included = (table: Table, include: Args | undefined): Relation[] => [
  ...countsOf(include).map(([name]) => relationOf(table, name)),
  ...entriesOf(include).flatMap(([name, wanted]) => {
    const relation = relationOf(table, name);
    return [relation, ...included(relation.target, wanted.include)];
  }),
];

/** Every relation that filters inside `include` name. */
const inIncluded = (table: Table, include: Args | undefined): Relation[] =>
  [...countsOf(include), ...entriesOf(include)].flatMap(([name, { filters, include: inner }]) => {
    const { target } = relationOf(table, name);
    return [...inFilters(target, filters), ...inIncluded(target, inner)];
  });

/** Every relation that `filters` name, at all levels. */
const inFilters = (table: Table, filters: unknown): Relation[] =>
  Object.entries(Object(filters) as Args).flatMap(([name, value]): Relation[] => {
    if (name === "OR" || name === "AND") return value.flatMap((member: unknown) => inFilters(table, member));
    const relation = table.relations.get(name);
    if (!relation) return [];
    const members = relation.many ? ["some", "none", "every"].map((one) => value[one]) : [value];
    return [relation, ...members.flatMap((member) => inFilters(relation.target, member))];
  });

/** The limits of all levels multiplied. */
const rowsAsked = (table: Table, include: Args | undefined, rows: number): number =>
  entriesOf(include).reduce((sum, [name, wanted]) => {
    const { target, many } = relationOf(table, name);
    const { defaultLimit, maxLimit } = optionsOf(target);
    const size = many ? rows * clamp(wanted.limit ?? defaultLimit, maxLimit) : rows;
    return sum + size + rowsAsked(target, wanted.include, size);
  }, 0);

const isDeep = (include: Args | undefined, levels: number): boolean =>
  given(include).some(([name, wanted]) => levels === 0 || (name !== "_count" && isDeep(wanted.include, levels - 1)));
