/** Random calls of the tests of tenants, with values of any owner, as a probe would send them. */
import type { CrudDefinition } from "../../src/contract/crud.ts";
import { owners, owns, type Row, rowsOf, textOf } from "./tenants-model.ts";
import { at, below, type Caller, callers, pick, random, two } from "./tenants-world.ts";

type Many = "createMany" | "updateMany" | "removeMany" | "aggregate" | "upsert";

export interface Call {
  caller: Caller;
  resource: CrudDefinition;
  operation: "list" | "get" | "create" | "update" | "remove" | Many;
  args: Row;
}
export const past = "2020-01-01T00:00:00Z";
export const absentId = (id: unknown) =>
  typeof id === "number" ? 2_000_000_000 : (id as string).replace(/[0-9a-f]/g, "0");

function randomFilters(resource: CrudDefinition, depth = 0): Row {
  const entries = Array.from({ length: below(3) }, (): [string, unknown] => {
    if (random() < 0.25 && depth < 2) {
      return [pick(["OR", "AND"]), Array.from({ length: 1 + below(3) }, () => randomFilters(resource, depth + 1))];
    }
    const property = pick([...resource.allowedFilters, "id", "nonsense"]);
    const one = pick(rowsOf(resource.table))[property] ?? null; // of any owner, as a probe would ask
    const op = pick(["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "ilike"]);
    const value = op.endsWith("in") ? [one] : op.endsWith("like") ? `${String(one).slice(0, 5)}%` : one;
    return [property, pick([one, { op, value }])];
  });
  return Object.fromEntries(entries);
}

const randomCaller = () => (random() < 0.8 ? pick(callers.slice(0, 6)) : pick(callers.slice(6)));

/** @param caller (Default: any) */
export function randomCall(resources: readonly CrudDefinition[], caller = randomCaller()): Call {
  const resource = pick(resources);
  const { table, methods, visible, upsertBy } = resource;
  const many: Many[] = methods.includes("createMany") ? ["createMany", "updateMany", "removeMany", "aggregate"] : [];
  if (upsertBy.length > 0) many.push("upsert", "upsert");
  const usual = ["list", "list", "list", "get", "get", "create", "update", "update", "remove"] as const;
  const operation = pick([...usual, ...many]);
  const select = random() < 0.2 && { select: [...visible].filter(() => random() < 0.5) };
  if (operation === "list") {
    const args: Row = { page: pick([undefined, 1, 2, 5, 99, -1]), limit: pick([undefined, 1, 7, 100, 0, 1000]) };
    if (random() < 0.5) args.filters = randomFilters(resource);
    if (random() < 0.3) args.search = pick(["own0", "OWN03N", "n1", "team03", "public02", "%", "absent"]);
    if (random() < 0.5) args.orderBy = pick([...visible, "nonsense"]);
    if (random() < 0.5) args.orderDir = pick(["asc", "desc"]);
    if (random() < 0.4) args.cursor = null;
    return { caller, resource, operation, args: { ...args, ...select } };
  }
  const own = rowsOf(table).filter((row) => owns(table, row, caller.id));
  const { id, code } = own.length > 0 && random() < 0.5 ? pick(own) : pick(rowsOf(table));
  const args: Row = { id: random() < 0.1 ? absentId(id) : id };
  if (operation === "get") {
    const key = code !== undefined && random() < 0.5 ? { code } : args;
    return { caller, resource, operation, args: { ...key, ...select } };
  }
  if (operation === "remove") return { caller, resource, operation, args };
  if (operation === "upsert") {
    const row = { ...randomRow(resource, caller), ...(random() < 0.7 && { code }) };
    return { caller, resource, operation, args: { by: "code", row } };
  }
  if (operation === "createMany") {
    const rows = Array.from({ length: below(4) }, () => randomRow(resource, caller));
    return { caller, resource, operation, args: { rows } };
  }
  if (operation === "updateMany" || operation === "removeMany" || operation === "aggregate") {
    const text = textOf[table] ?? "";
    const value = String(pick(own.length > 0 && random() < 0.5 ? own : rowsOf(table))[text]);
    const filters = pick<Row>([
      { [text]: value },
      { [text]: { op: "like", value: `${value.slice(0, 8)}%` } },
      { nonsense: 1 },
    ]);
    if (operation === "aggregate") return { caller, resource, operation, args: { measures: ["count"], filters } };
    const made = randomRow(resource, caller);
    const set = { [text]: made[text], ...(table === "boards" && { teamId: made.teamId }) };
    const max = pick([1, 3, 10_000]);
    return { caller, resource, operation, args: { filters, max, ...(operation === "updateMany" && { set }) } };
  }
  Object.assign(args, randomRow(resource, caller));
  if (operation === "update") delete args.code;
  if (operation === "update") args.ifUnmodifiedSince = pick([undefined, undefined, past, "2199-01-01T00:00:00Z"]);
  return { caller, resource, operation, args };
}

/** The values of a row, with some that a caller cannot set. */
function randomRow({ table, softDelete }: CrudDefinition, caller: Caller): Row {
  const args: Row = {};
  const team = `team${two(below(11))}`;
  const mark = { boards: team, articles: "public" }[table] ?? `own${two(owners.indexOf(caller.id ?? ""))}`;
  if (textOf[table]) args[textOf[table]] = `${mark}new${below(100)}`;
  if (table === "boards" || table === "memberships") args.teamId = team;
  if (table === "notes") args.priority = below(5);
  if (table === "codes") args.code = random() < 0.1 ? pick(rowsOf(table)).code : `new${below(1_000_000)}`;
  return Object.assign(args, { userId: pick(owners), createdAt: at(0) }, softDelete && { [softDelete.property]: true });
}

const alone = ["create", "update", "remove", "upsert"];
/** The row that a call changes. */
const changedRow = ({ resource: { table }, args }: Call): unknown => {
  const code = args.code ?? (args.row as Row | undefined)?.code;
  return `${table} ${code === undefined ? args.id : (rowsOf(table).find((row) => row.code === code)?.id ?? code)}`;
};

/** Calls of one caller that change different rows, so that none depends on another one. */
export function randomBatch(resources: readonly CrudDefinition[]): Call[] {
  const caller = randomCaller();
  const some = Array.from({ length: 12 }, () => randomCall(resources, caller)).filter(
    ({ operation, resource }) => alone.includes(operation) && resource.table !== "memberships",
  );
  return [...new Map(some.map((call) => [changedRow(call), call])).values()].slice(0, 4);
}
