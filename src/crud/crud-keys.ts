/**
 * The options `getBy` and `upsertBy` of `createCrud`: keys that find one row, because a unique constraint of the table
 * covers them.
 */
import { getTableName, type SQL } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { sqlText, uniqueKeys } from "../kit/table-config.ts";
import { writableColumns } from "./crud-definition.ts";

/** Kinds by which `get` finds a row. No times: a Date has lost the microseconds. */
const keyKinds = new Set(["integer", "bigint", "uuid", "text", "enum"]);
/** Kinds by which a unique constraint finds the row of an upsert. */
const upsertKinds = new Set([...keyKinds, "timestamp", "date", "numeric", "boolean"]);

/**
 * @param option where the keys come from, for errors
 * @param softDelete the column whose rows `get` does not find
 * @returns each key as its properties
 * @throws DefinitionError for a column that does not exist, cannot be a key, or is not unique
 */
export function describeKeys(
  table: PgTable,
  columns: readonly ColumnDescription[],
  option: "getBy" | "upsertBy",
  keys: readonly (string | readonly string[])[],
  softDelete?: ColumnDescription,
): (readonly string[])[] {
  const unique = uniqueProperties(table, columns, softDelete);
  const [kinds, named] =
    option === "getBy"
      ? [keyKinds, "a whole number, a text, a uuid or an enum"]
      : [upsertKinds, "a number, a text, a uuid, an enum, a boolean, a date or a time"];
  return keys.map((key) => {
    const properties = [key].flat();
    const where = `createCrud: ${option} of "${getTableName(table)}" names ${JSON.stringify(key)}, `;
    for (const property of properties) {
      const column = columns.find((one) => one.property === property);
      if (column && kinds.has(column.kind) && !column.isArray) continue;
      throw new DefinitionError(`${where}but "${property}" is no column of ${named}.`, {
        hint: `The columns are ${columns.map((one) => one.property).join(", ")}.`,
      });
    }
    if (!unique.some((names) => names.size === properties.length && properties.every((one) => names.has(one)))) {
      throw new DefinitionError(`${where}but no unique constraint of the table has exactly these columns.`, {
        hint: "Add one: .unique() for one column, or unique().on(t.orgId, t.slug) in the table's third argument.",
      });
    }
    return properties;
  });
}

/** @throws DefinitionError for a column of `upsertBy` that callers cannot give; `userId` comes from their session */
export function checkWritableKeys(crud: CrudDefinition): void {
  const writable = writableColumns(crud).map(({ property }) => property);
  for (const property of crud.upsertBy.flat()) {
    if (property === "userId" || writable.includes(property)) continue;
    const hint = `Name a unique constraint of columns that they can: ${writable.join(", ")}. userId may be one of several.`;
    const message = `createCrud: upsertBy of "${crud.table}" names "${property}", which callers cannot write.`;
    throw new DefinitionError(message, { hint });
  }
}

/** The key of `upsertBy` that a caller names, in any order. */
export const keyNamed = ({ upsertBy }: CrudDefinition, by: readonly unknown[]) =>
  upsertBy.find((names) => names.length === by.length && names.every((name) => by.includes(name)));

/** Ends the sentence "by must be". */
export const keysOf = ({ upsertBy }: CrudDefinition): string =>
  upsertBy.map((names) => JSON.stringify(names.length === 1 ? names[0] : names)).join(" or ");

/**
 * The properties of each unique constraint. A partial unique index allows several such rows, and counts only if it is of the
 * rows that are not softly deleted.
 */
function uniqueProperties(table: PgTable, all: readonly ColumnDescription[], softDelete?: ColumnDescription) {
  const properties = new Map(all.map(({ name, property }) => [name, property]));
  return uniqueKeys(table)
    .filter(({ where }) => !where || (softDelete !== undefined && isOfKept(where, softDelete)))
    .map(({ columns }) => new Set(columns.map((name) => properties.get(name) ?? "")));
}

/** Whether the condition of an index is the one by which generated operations leave out rows that were softly deleted. */
function isOfKept(where: SQL, { name, kind }: ColumnDescription): boolean {
  const text = sqlText(where).replaceAll('"', "").trim();
  const [column, test] = [text.split(" ")[0]?.split(".").at(-1), text.slice(text.indexOf(" ") + 1).toLowerCase()];
  return column === name && test === (kind === "boolean" ? "is not true" : "is null");
}
