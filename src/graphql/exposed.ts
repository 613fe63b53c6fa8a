/**
 * The tables that GraphQL exposes: exactly those that `createCrud` offers, with its columns. If a table has several
 * resources, the first registered, readable one is used, unless it has `graphql: false`.
 * Next hop: `tables-plugin.ts` and `writes-plugin.ts` make a schema of it.
 */
import type { Api } from "../contract/api.ts";
import type { ColumnDescription, CrudDefinition, CrudOperation } from "../contract/crud.ts";
import { visibleColumns, writableColumns } from "../crud/crud-definition.ts";

export interface ExposedTable {
  crud: CrudDefinition;
  offers(operation: CrudOperation): boolean;
  /** By the column's name in the database; hidden columns are omitted. */
  columns: ReadonlyMap<string, ExposedColumn>;
}

interface ExposedColumn {
  /** Name of the field, the column's property. */
  field: string;
  column: ColumnDescription;
  canFilter: boolean;
  canWrite: boolean;
}

/** Keyed by schema and name, see `keyOf`. */
export type Exposed = ReadonlyMap<string, ExposedTable>;

const keyOf = (schema: string, table: string) => `${schema}\0${table}`;

/** A codec or resource of PostGraphile. */
interface Place {
  extensions?: Partial<{ pg: { schemaName: string; name: string } }>;
}

/** The exposed table that it stands for. */
export function tableOf(exposed: Exposed, place: Place | null | undefined): ExposedTable | undefined {
  const pg = place?.extensions?.pg;
  return pg && exposed.get(keyOf(pg.schemaName, pg.name));
}

/** Whether GraphQL allows the name: letters, digits and _, but not two _ in front. Other properties are omitted. */
const isName = (property: string) => /^[A-Za-z_]\w*$/.test(property) && !property.startsWith("__");

/**
 * Whether every object has such a member. grafast takes it for the value of a condition that does not name the column, and
 * no condition of the table would work.
 */
const isInherited = (property: string) => property in Object.prototype;

/** Vectors are only compared inside the database, and PostGraphile reads of an array of arrays nulls. */
const has = ({ kind, dimensions }: ColumnDescription) => kind !== "vector" && dimensions < 2;

export function exposedTables(api: Api): Exposed {
  const exposed = new Map<string, ExposedTable>();
  for (const crud of api["~svc"].crud) {
    const key = keyOf(crud.schema, crud.table);
    const isReadable = crud.methods.includes("list") || crud.methods.includes("get");
    if (!crud.graphql || !isReadable || exposed.has(key)) continue;
    const written = new Set(writableColumns(crud));
    const shown = visibleColumns(crud).filter((column) => isName(column.property) && has(column));
    exposed.set(key, {
      crud,
      offers: (operation) => crud.methods.includes(operation),
      columns: new Map(
        shown.map((column) => [
          column.name,
          {
            field: column.property,
            column,
            canFilter: crud.allowedFilters.includes(column.property) && !isInherited(column.property),
            canWrite: written.has(column),
          },
        ]),
      ),
    });
  }
  return exposed;
}
