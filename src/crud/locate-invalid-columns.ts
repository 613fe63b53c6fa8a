/**
 * What a generated write was refused for where PostgreSQL alone knows a type: an interval, an address, a range, a type of an
 * extension. It does not say which column it was, so it is asked again, column by column.
 * Next hop: `sql/crud/find_misfits.sql`.
 */
import type pg from "pg";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import type { Input } from "../kit/input-checks.ts";
import { SvcError } from "../kit/svc-error.ts";
import { sqlState } from "../postgres/errors.ts";
import type { Identity } from "../postgres/identity.ts";
import { callAs } from "./statement.ts";

/** Values that are none of their type; of a domain, which it checks; and what types raise that are languages. */
const isOfValues = (state: string | undefined) => state !== undefined && /^(22...|23514|42601)$/.test(state);

/**
 * @param values of the statement that failed
 * @param error  what it failed with
 * @returns VALIDATION_FAILED with the columns, or the error as it was when all values fit
 */
export async function locateInvalidColumns(
  pool: pg.Pool,
  identity: Identity,
  { name, crud }: Pick<ProcedureDefinition, "name" | "crud">,
  values: () => (string | number)[],
  error: unknown,
): Promise<unknown> {
  if (!crud || name.endsWith(".list") || !isOfValues(sqlState(error))) return error;
  const row = rowOf(name, values());
  const given = crud.columns.filter(({ property }) => Object.hasOwn(row, property));
  const data = Object.fromEntries(given.map((column) => [column.name, row[column.property]]));
  const parameters = [crud.schema, crud.table, JSON.stringify(data)];
  const asking = callAs(pool, identity, "to_json(svc.find_misfits($3, $4, $5))", parameters);
  const names = new Set<string>(JSON.parse((await asking.catch(() => null)) ?? "[]")); // the first refusal says more
  const issues = given
    .filter((column) => names.has(column.name))
    .map(({ property, type }) => ({ path: [property], message: `must be a value of the type ${type}` }));
  return issues.length > 0 ? new SvcError("VALIDATION_FAILED", undefined, { issues, cause: error }) : error;
}

/** The arguments of a generated function by property: `create` takes a row, `update` an id and a row, the others an id. */
function rowOf(name: string, values: (string | number)[]): Input {
  const [first, changes] = values;
  if (name.endsWith(".create")) return JSON.parse(String(first));
  return { ...(changes !== undefined && JSON.parse(String(changes))), id: first };
}
