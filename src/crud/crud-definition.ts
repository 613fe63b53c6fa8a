/** A checked `createCrud` definition, used by the code generator, the input checks and the server. */
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";

/** The columns that `create` and `update` take from callers. */
export const writableColumns = (crud: CrudDefinition): ColumnDescription[] =>
  crud.columns.filter((column) => !column.managed && column !== crud.softDelete && crud.visible.has(column.property));
