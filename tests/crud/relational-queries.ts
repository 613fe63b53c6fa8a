/** Random arguments for the tables of relational-world.ts. */
import type { Random } from "./random.ts";
import type { Args, Call } from "./relational-evaluator.ts";
import type { Options, Table } from "./relational-types.ts";
import type { World } from "./relational-world.ts";

export function randomCall(world: World, random: Random): Call {
  const call = randomArguments(world, random);
  if (call.operation !== "aggregate" && random.chance(0.4)) addCounts(call.table, call.args, random);
  return call;
}

/** Asks for counts at some levels. */
function addCounts(table: Table, args: Args, random: Random): void {
  const countable = [...table.relations].filter(([, { many }]) => many);
  const counts = random.some(countable, 2).map(([name, { target }]) => {
    const options = { filters: filters(target as Table, random, 0, false) };
    return [name, random.chance(0.4) ? options : true];
  });
  for (const [name, options] of Object.entries(args.include ?? {})) {
    if (options !== true) addCounts(table.relations.get(name)?.target as Table, options as Args, random);
  }
  args.include = { ...args.include, _count: Object.fromEntries(counts) };
}

function randomArguments({ tables }: World, random: Random): Call {
  const { below, chance, pick } = random;
  const table = pick(tables.filter(({ options }) => options));
  const options = table.options as Options;
  const operation = pick(["list", "list", "list", "get", "aggregate"] as const);
  if (operation === "aggregate") return { table, operation, args: aggregation(table, random) };
  const args: Args = {
    ...(chance(0.65) && { include: include(table, random, 0) }),
    ...(chance(0.4) && { select: random.some(options.visible) }),
  };
  if (operation === "get")
    return { table, operation, args: { ...args, id: table.rows.length ? pick(table.rows).id : absent(table) } };
  if (chance(0.5)) args.filters = filters(table, random, 0, false);
  if (chance(0.2)) args.search = pick(["a", "B", "ab", "%", "x"]);
  if (chance(0.5))
    args.orderBy = pick([...options.visible, ...table.columns.map(({ property }) => property), "nonsense"]);
  if (chance(0.5)) args.orderDir = pick(["asc", "desc"]);
  if (chance(0.5)) args.limit = pick([0, 1, 2, 3, 5, 100]);
  if (chance(0.15)) args.page = 1 + below(3);
  else if (chance(0.3)) args.cursor = null;
  return { table, operation, args };
}

const absent = ({ columns }: Table) =>
  ({ integer: 0, bigint: "0", text: "", uuid: crypto.randomUUID() })[columns[0]?.kind as "text"];

function include(table: Table, random: Random, depth: number): Args {
  const { chance, pick, some } = random;
  const names = some([...table.relations.keys()], chance(0.05) ? 9 : 3);
  return Object.fromEntries(
    names.map((name) => {
      if (chance(0.2)) return [name, true];
      const { target, many } = table.relations.get(name) as { target: Table; many: boolean };
      const { visible } = target.options as Options;
      const options: Args = {};
      if (chance(0.4)) options.select = some(visible);
      if (chance(0.5) && (depth < 2 || chance(0.02))) options.include = include(target, random, depth + 1);
      if (many && chance(0.4)) options.limit = pick([0, 1, 2, 3, 100]);
      if (many && chance(0.4)) options.orderBy = { [pick(visible)]: pick(["asc", "desc"]) };
      if (many && chance(0.25)) options.filters = filters(target, random, 0, false);
      return [name, options];
    }),
  );
}

const ordered = ["integer", "bigint", "number", "numeric", "timestamp", "date"];

/** @param exact whether to name only what is allowed: an aggregate refuses the rest */
function filters(table: Table, random: Random, depth: number, exact: boolean): Args {
  const { below, chance, pick } = random;
  const { allowedFilters } = table.options as Options;
  const isEnd = depth > (exact ? 2 : 3 + below(3));
  const names = [
    ...allowedFilters,
    ...(isEnd ? [] : [...table.relations.keys()]),
    ...(exact ? [] : ["nonsense", ...table.columns.map(({ property }) => property)]),
  ];
  if (names.length === 0) return {};
  const entries = Array.from({ length: 1 + below(depth === 0 ? 3 : 2) }, (): [string, unknown] => {
    if (!isEnd && chance(0.15)) {
      const members = Array.from({ length: 1 + below(3) }, () => filters(table, random, depth + 1, exact));
      return [pick(["OR", "AND"]), exact ? members.filter((one) => Object.keys(one).length > 0) : members];
    }
    const name = pick(names);
    const relation = table.relations.get(name);
    if (!relation) return [name, condition(table, name, random)];
    const inner = () => filters(relation.target, random, depth + 1, exact);
    if (!relation.many) return [name, inner()];
    const quantifiers = ["some", "none", "every"].filter(() => chance(0.45));
    return [name, Object.fromEntries(quantifiers.map((one) => [one, chance(0.15) ? {} : inner()]))];
  });
  return exact ? withoutEmpty(Object.fromEntries(entries)) : Object.fromEntries(entries);
}

/** Without what a list would ignore. */
const withoutEmpty = (tree: Args): Args =>
  Object.fromEntries(
    Object.entries(tree).filter(([name, value]) => {
      if (name === "OR" || name === "AND") return value.length > 0;
      if (!value || typeof value !== "object" || "op" in value) return true;
      const { every } = value;
      return Object.keys(value).length > 0 && !(every && Object.keys(every).length === 0);
    }),
  );

/** A value of a row of any owner, as a probe would ask. */
function condition(table: Table, name: string, { chance, pick, some }: Random): unknown {
  const kind = table.columns.find(({ property }) => property === name)?.kind ?? "text";
  const values = table.rows.map((row) => row[name] ?? null);
  const value = values.length > 0 ? pick(values) : null;
  if (chance(0.4) || value === null) return pick([value, { op: pick(["eq", "ne"]), value }]);
  if (chance(0.4)) return { op: pick(["in", "nin"]), value: some([value, ...values], 4) };
  if (ordered.includes(kind)) return { op: pick(["gt", "gte", "lt", "lte"]), value };
  return kind === "text"
    ? { op: pick(["like", "ilike"]), value: `${String(value).slice(0, 1)}%` }
    : { op: "ne", value };
}

function aggregation(table: Table, random: Random): Args {
  const { chance, pick, some } = random;
  const { groupBy, measures } = table.options as Options;
  const kind = (name: string) => table.columns.find(({ property }) => property === name)?.kind;
  const groups = some(groupBy, 2).map((name) =>
    kind(name) === "timestamp" ? `${name}:${pick(["day", "month"])}` : name,
  );
  const asked = [...new Set([pick(measures), ...some(measures, 3)])];
  return {
    measures: asked,
    ...(groups.length > 0 && { groupBy: groups }),
    ...(chance(0.6) && { filters: filters(table, random, 0, true) }),
    ...(chance(0.5) && { orderBy: { [pick([...groups, ...asked])]: pick(["asc", "desc"]) } }),
    ...(chance(0.3) && { limit: pick([1, 2, 5]) }),
  };
}
