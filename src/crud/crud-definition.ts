/** The columns of a checked `createCrud` definition, as the code generator, the input checks and the server need them. */
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";

interface Columns {
  readonly columns: readonly ColumnDescription[];
}

export const findColumn = ({ columns }: Columns, property: unknown) =>
  columns.find((column) => column.property === property);

/** The columns that callers read, in the order of their declaration. */
export const visibleColumns = ({ columns, visible }: Columns & Pick<CrudDefinition, "visible">) =>
  columns.filter(({ property }) => visible.has(property));

/** The columns that `create` and `update` take from callers. */
export const writableColumns = (crud: CrudDefinition): ColumnDescription[] =>
  visibleColumns(crud).filter((column) => !column.managed && column !== crud.softDelete);
