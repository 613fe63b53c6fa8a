/**
 * Finds the columns that made PostgreSQL reject a generated write, for types that only PostgreSQL can check: intervals,
 * addresses, ranges, types of extensions. Its error does not name the column, so each column is tested in a second
 * query. Likewise the columns of a search or filter whose collation allows no patterns.
 * Next hop: `sql/crud/find_misfits.sql`.
 */
import type pg from "pg";
import type { CrudDefinition } from "../contract/crud.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import type { Input } from "../kit/input-checks.ts";
import { SvcError } from "../kit/svc-error.ts";
import { failedPlace, sqlState } from "../postgres/errors.ts";
import type { Identity } from "../postgres/identity.ts";
import { callAs } from "./statement.ts";

/**
 * SQLSTATEs of an invalid value, a domain's check, syntax errors of types that are languages, names that types such as regclass do
 * not find, and what extensions raise without a code of their own (hstore before PostgreSQL 16).
 */
const isOfValues = (state: string | undefined) =>
  state !== undefined && /^(22...|23514|42601|42704|42883|42P01|XX000)$/.test(state);

/**
 * @param values of the statement that failed
 * @param error  its error
 * @returns VALIDATION_FAILED with the columns, or the same error when all values are valid
 */
export async function locateInvalidColumns(
  pool: pg.Pool,
  identity: Identity,
  { name, crud }: Pick<ProcedureDefinition, "name" | "crud">,
  values: () => (string | number | null)[],
  error: unknown,
): Promise<unknown> {
  if (crud && sqlState(error) === "0A000") return (await nameWithoutPatterns(pool, identity, crud, error)) ?? error;
  if (!crud || /\.(list|aggregate|history|deliveries|retryDelivery)$/.test(name) || !isOfValues(sqlState(error)))
    return error;
  const failed = failedPlace(error);
  const row = rowOf(name, values(), Number(failed?.[1] ?? 0));
  const place = failed ?? (name.endsWith(".upsert") ? ["row"] : name.endsWith(".updateMany") ? ["set"] : []);
  const given = crud.columns.filter(({ property }) => Object.hasOwn(row, property));
  const data = Object.fromEntries(given.map((column) => [column.name, row[column.property]]));
  const parameters = [crud.schema, crud.table, JSON.stringify(data)];
  const asking = callAs(pool, identity, "to_json(svc.find_misfits($3, $4, $5))", parameters);
  const names = new Set<string>(JSON.parse((await asking.catch(() => null)) ?? "[]")); // the first error says more
  const issues = given
    .filter((column) => names.has(column.name))
    .map(({ property, type }) => ({ path: [...place, property], message: `must be a value of the type ${type}` }));
  return issues.length > 0 ? new SvcError("VALIDATION_FAILED", undefined, { issues, cause: error }) : error;
}

/** PostgreSQL refuses ILIKE, before 18 also LIKE, where a collation takes different texts for equal ones, and names no column. */
async function nameWithoutPatterns(
  pool: pg.Pool,
  identity: Identity,
  crud: CrudDefinition,
  cause: unknown,
): Promise<SvcError | undefined> {
  const resources = [...reachable(crud)];
  const tables = JSON.stringify(resources.map(({ schema, table }) => [schema, table]));
  const asking = callAs(pool, identity, nondeterministic, [tables], "svc_nondeterministic").catch(() => null); // the first error says more
  const found = new Set((JSON.parse((await asking) ?? "[]") as string[][]).map((one) => JSON.stringify(one)));
  const names = resources.flatMap(({ prefix, schema, table, columns, allowedFilters, searchFields }) => {
    const matched = new Set([...allowedFilters, ...searchFields]);
    return columns
      .filter(({ name, property }) => matched.has(property) && found.has(JSON.stringify([schema, table, name])))
      .map(({ property }) => (prefix === crud.prefix ? property : `${prefix}.${property}`));
  });
  if (names.length === 0) return undefined;
  const hint = "Filter it by eq or in, and take it out of searchFields. Or give its column a deterministic collation.";
  const message = `PostgreSQL cannot match patterns in ${names.join(", ")}: the collation is nondeterministic.`;
  return new SvcError("BAD_REQUEST", message, { hint, cause });
}

/** The resource, and those that filters reach through relations. */
function reachable(crud: CrudDefinition, found = new Set<CrudDefinition>()): Set<CrudDefinition> {
  if (found.has(crud)) return found;
  found.add(crud);
  for (const { target } of crud.relations.values()) reachable(target, found);
  return found;
}

const nondeterministic = `select json_agg(json_build_array(n.nspname, c.relname, a.attname)) from pg_catalog.pg_attribute as a
  join pg_catalog.pg_collation as l on l.oid = a.attcollation and not l.collisdeterministic
  join pg_catalog.pg_class as c on c.oid = a.attrelid
  join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
 where $3::pg_catalog.jsonb @> pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_array(n.nspname, c.relname))`;

/** The row in a generated function's arguments: `create` takes a row, `update` an id and a row, the others a key. */
function rowOf(name: string, values: (string | number | null)[], failed: number): Input {
  const [first, changes] = values;
  if (name.endsWith(".create")) return JSON.parse(String(first));
  if (name.endsWith(".createMany")) return JSON.parse(String(first))[failed] ?? {};
  if (name.endsWith(".upsert") || name.endsWith(".updateMany")) return JSON.parse(String(changes));
  if (name.endsWith(".removeMany")) return {};
  if (name.endsWith(".get")) return first === null ? JSON.parse(String(changes)).by : { id: first };
  return { ...(changes !== undefined && JSON.parse(String(changes))), id: first };
}
