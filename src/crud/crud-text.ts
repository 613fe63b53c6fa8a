/**
 * SQL fragments that the generated functions share: the table's name, a row in its wire format, and the condition that
 * excludes soft-deleted rows.
 */
import type { ColumnDescription, CrudDefinition, CrudOperation } from "../contract/crud.ts";
import { quote } from "../postgres/schema-names.ts";
import { visibleColumns } from "./crud-definition.ts";

/** A generated function without its frame. */
export interface Writing {
  /** `name type`, in order. */
  parameters: string[];
  volatility: "stable" | "volatile";
  body: string;
  summary: string;
  /** (Default: what the type of the id needs) */
  searchPath?: string;
  /** What a name means that a column and a variable have. (Default: the variable, for columns are qualified) */
  conflict?: "use_column";
}

/** The function of an operation that a function of the platform carries out. @param call its name, without the schema */
export const calling = (
  { prefix }: CrudDefinition,
  call: string,
  volatility: Writing["volatility"],
  summary: string,
): Writing => ({
  parameters: ["args jsonb"],
  volatility,
  summary,
  body: `begin
  return svc.${call}(svc_crud.${prefix}_resource(), args);
end`,
});

export const qualified = (crud: Pick<CrudDefinition, "schema" | "table">) =>
  `${quote(crud.schema)}.${quote(crud.table)}`;

/** The SQL function of an operation, in schema svc_crud. */
export const functionName = ({ prefix }: CrudDefinition, operation: CrudOperation) =>
  `${prefix}_${operation.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;

/** Types of the arguments of the operations that write one row. */
export function argumentTypes(crud: CrudDefinition, operation: CrudOperation): readonly string[] | undefined {
  const id = () => byId(crud).parameter.replace("row_id ", "");
  if (operation === "create") return ["jsonb"];
  if (operation === "update") return [id(), "jsonb"];
  if (operation === "remove") return [id()];
  return operation === "upsert" ? ["text", "jsonb", "jsonb"] : undefined;
}

/** JSON numbers are exact up to 53 bits, so wider types travel as text. PostgreSQL formats the other types correctly. */
export function toWire(column: ColumnDescription): string {
  const value = `t.${quote(column.name)}`;
  switch (column.kind) {
    case "bigint":
    case "numeric":
      return `${value}::text${column.isArray ? "[]" : ""}`;
    case "timestamp":
      // A timestamp without time zone is read as UTC, in arrays by the time zone that every call sets.
      if (column.type.includes("with time zone")) return value;
      return column.isArray ? `${value}::timestamptz[]` : `${value} at time zone 'UTC'`;
    case "bytes": {
      const encoded = (bytes: string) => `translate(encode(${bytes}, 'base64'), E'\\n', '')`;
      if (!column.isArray) return encoded(value);
      const items = `select ${encoded("items.value")} from unnest(${value}) with ordinality as items (value, place)`;
      return `case when ${value} is not null then array(${items} order by items.place) end`;
    }
    case "vector":
      return `${value}::text::json`;
    case "text":
      if (isJsonText(column)) return value;
      return column.isArray ? `${value}::text[]` : `svc_hidden.wire_text(${value})`;
    default:
      return value;
  }
}

/**
 * Whether PostgreSQL's JSON has a string for each value of the column. A domain over numbers, a composite type and other
 * types of an application have none: their values travel as text. (PostGIS writes its types as GeoJSON.)
 */
export function isJsonText({ castType }: ColumnDescription): boolean {
  const type = castType.replace(/^extensions\.|\[\]$|"/g, "");
  return jsonTexts.test(type);
}

const jsonTexts = new RegExp(
  "^(text|varchar|character varying|bpchar|citext|name|uuid|xml|ltree|pg_lsn|money|(time|interval)( .*)?|inet|cidr|macaddr8?|bit|" +
    "bit varying|point|line|lseg|box|path|polygon|circle|\\w+range|tsvector|tsquery|jsonpath|sparsevec|geometry|geography)$",
);

/** A column under its wire name, always quoted. */
export const wireColumn = (column: ColumnDescription) =>
  `${toWire(column)} as "${column.property.replaceAll('"', '""')}"`;

/** The visible columns under their wire names. */
export const selectList = (crud: CrudDefinition, indent: string) =>
  visibleColumns(crud)
    .map((column) => indent + wireColumn(column))
    .join(",\n");

/**
 * A row of the table `t` as JSON. A sub-select, because functions take at most 100 arguments. `item.*`, because `item`
 * alone could be a column of that name.
 */
export const item = (crud: CrudDefinition) =>
  `(select row_to_json(item.*) from (select ${visibleColumns(crud).map(wireColumn).join(", ")}) as item)`;

/** As in migrations: types, operators and functions of extensions and of the application are found. */
export const searchPath = "pg_catalog, public, extensions, pg_temp";

/**
 * Parameter, row condition and search path of `get`, `update` and `remove`. Types of an extension or the application
 * are found through the search path, like their operators: an index on citext does not serve a comparison of texts. The
 * signature only uses PostgreSQL's own types, so it does not depend on the caller's search path.
 */
export function byId({ id }: CrudDefinition): { parameter: string; condition: string; searchPath: string } {
  const own = id.kind !== "text" || ["text", "varchar", "bpchar"].includes(id.castType);
  return {
    parameter: `row_id ${own ? id.castType : "text"}`,
    condition: `t.${quote(id.name)} = row_id${own ? "" : `::${id.castType}`}`,
    searchPath: own ? "''" : searchPath,
  };
}

/** SQL of the condition that excludes soft-deleted rows, after the text `before`; empty where rows are really deleted. */
export function notDeleted({ softDelete }: Pick<CrudDefinition, "softDelete">, before: string): string {
  if (!softDelete) return "";
  const column = `t.${quote(softDelete.name)}`;
  return `${before}${softDelete.kind === "boolean" ? `${column} is not true` : `${column} is null`}`;
}
