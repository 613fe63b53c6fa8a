/**
 * What GraphQL shows: exactly what `createCrud` offers by name. A table without one is not there, nor is a column that it
 * leaves out. Where a table has several, the first that is registered and can be read counts, unless `graphql: false`.
 * Next hop: `tables-plugin.ts` and `writes-plugin.ts` make a schema of it.
 */
import type { Api } from "../contract/api.ts";
import type { ColumnDescription, CrudDefinition, CrudOperation } from "../contract/crud.ts";
import { writableColumns } from "../crud/crud-definition.ts";

export interface ExposedTable {
  crud: CrudDefinition;
  /** Whether a caller without a session may ask. */
  anonymous: boolean;
  /** The most rows that a page holds. */
  maxLimit: number;
  offers(operation: CrudOperation): boolean;
  /** By the column's name in the database; columns that GraphQL does not show are not among them. */
  columns: ReadonlyMap<string, ExposedColumn>;
}

export interface ExposedColumn {
  /** Name of the field, the column's property. */
  field: string;
  column: ColumnDescription;
  canFilter: boolean;
  canWrite: boolean;
}

/** By schema and name, as `keyOf` puts them together. */
export type Exposed = ReadonlyMap<string, ExposedTable>;

export const keyOf = (schema: string, table: string) => `${schema}\0${table}`;

/** Names in GraphQL are letters, digits and _; those with two in front are its own. Other properties are left out. */
const isName = (property: string) => /^[A-Za-z_]\w*$/.test(property) && !property.startsWith("__");

/** Vectors are for comparing, inside the database. */
const has = (kind: ColumnDescription["kind"]) => kind !== "vector";

export function exposedTables(api: Api): Exposed {
  const { crud: all, procedures } = api["~svc"];
  const exposed = new Map<string, ExposedTable>();
  for (const crud of all) {
    const key = keyOf(crud.schema, crud.table);
    const readable = crud.methods.find((method) => method === "list" || method === "get");
    if (!crud.graphql || !readable || exposed.has(key)) continue;
    const written = new Set(writableColumns(crud));
    const shown = crud.columns.filter(
      ({ property, kind }) => crud.visible.has(property) && isName(property) && has(kind),
    );
    exposed.set(key, {
      crud,
      anonymous: procedures.get(`${crud.prefix}.${readable}`)?.anonymous ?? false,
      maxLimit: crud.maxLimit,
      offers: (operation) => crud.methods.includes(operation),
      columns: new Map(
        shown.map((column) => [
          column.name,
          {
            field: column.property,
            column,
            canFilter: crud.allowedFilters.includes(column.property),
            canWrite: written.has(column),
          },
        ]),
      ),
    });
  }
  return exposed;
}
