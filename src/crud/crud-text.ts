/** Pieces of SQL text that the generated functions share: the table's name, and a row as the wire has it. */
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";
import { quote } from "../postgres/schema-names.ts";

export const findColumn = (crud: CrudDefinition, property: string) =>
  crud.columns.find((column) => column.property === property);
export const qualified = (crud: CrudDefinition) => `${quote(crud.schema)}.${quote(crud.table)}`;

/** JSON numbers hold 53 bits, so wider ones travel as text; PostgreSQL writes the other types as the wire wants them. */
export function toWire(column: ColumnDescription): string {
  const value = `t.${quote(column.name)}`;
  switch (column.kind) {
    case "bigint":
    case "numeric":
      return `${value}::text${column.isArray ? "[]" : ""}`;
    case "timestamp":
      // Without a time zone in the column, the time is meant in UTC.
      return column.type.includes("with time zone") || column.isArray ? value : `${value} at time zone 'UTC'`;
    case "bytes":
      return column.isArray ? value : `translate(encode(${value}, 'base64'), E'\\n', '')`;
    case "vector":
      return `${value}::text::json`;
    default:
      return value;
  }
}

/** A column under its name on the wire, quoted whatever it is. */
const wireColumn = (column: ColumnDescription) => `${toWire(column)} as "${column.property.replaceAll('"', '""')}"`;

const visible = (crud: CrudDefinition) => crud.columns.filter(({ property }) => crud.visible.has(property));

/** The columns that callers see, under their names on the wire. */
export const selectList = (crud: CrudDefinition, indent: string) =>
  visible(crud)
    .map((column) => indent + wireColumn(column))
    .join(",\n");

/**
 * A row of the table `t` as JSON. A sub-select, since functions take no more than 100 arguments; `item.*`, since `item`
 * alone would be the column of that name where there is one.
 */
export const item = (crud: CrudDefinition) =>
  `(select row_to_json(item.*) from (select ${visible(crud).map(wireColumn).join(", ")}) as item)`;

/**
 * The parameter of `get`, `update` and `remove`, the condition that finds its row, and the search path that both need.
 * A type of an extension or of the application is found as in migrations, its operators too: an index on a citext serves
 * no comparison of texts. The signature names only types of PostgreSQL's own, whatever the search path of who calls.
 */
export function byId({ id }: CrudDefinition): { parameter: string; condition: string; searchPath: string } {
  const own = id.kind !== "text" || ["text", "varchar", "bpchar"].includes(id.castType);
  return {
    parameter: `row_id ${own ? id.castType : "text"}`,
    condition: `t.${quote(id.name)} = row_id${own ? "" : `::${id.castType}`}`,
    searchPath: own ? "''" : "pg_catalog, public, extensions, pg_temp",
  };
}

/** What tells a row from a soft-deleted one, behind `before`; nothing where rows are really deleted. */
export function isVisible({ softDelete }: CrudDefinition, before: string): string {
  if (!softDelete) return "";
  const column = `t.${quote(softDelete.name)}`;
  return `${before}${softDelete.kind === "boolean" ? `${column} is not true` : `${column} is null`}`;
}
