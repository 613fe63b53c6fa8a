/** A `createCrud`, checked: what the code generator, the input checks and the server go by. */
import type { ColumnDescription } from "./columns.ts";
import type { RealtimeDefinition } from "./crud-realtime.ts";

/** What the code generator and the server know of one `createCrud`. */
export interface CrudDefinition {
  prefix: string;
  schema: string;
  table: string;
  id: ColumnDescription;
  /** Every column of the table. */
  columns: ColumnDescription[];
  /** Properties that callers see, and may write unless they are managed. */
  visible: ReadonlySet<string>;
  searchFields: readonly string[];
  allowedFilters: readonly string[];
  softDelete: ColumnDescription | undefined;
  count: "exact" | "estimated" | "none";
  defaultLimit: number;
  maxLimit: number;
  methods: readonly CrudOperation[];
  /** Whether GraphQL may show the table as this resource does; src/graphql/exposed.ts decides between several. */
  graphql: boolean;
  /** The column with the owner's id where rows are their owner's alone; events about them go to nobody else. */
  owner: ColumnDescription | null;
  /** What subscribers hear of; null when nothing. */
  realtime: RealtimeDefinition | null;
}

export const crudOperations = ["list", "get", "create", "update", "remove"] as const;
export type CrudOperation = (typeof crudOperations)[number];

/** The columns that `create` and `update` take from callers. */
export const writableColumns = (crud: CrudDefinition): ColumnDescription[] =>
  crud.columns.filter((column) => !column.managed && column !== crud.softDelete && crud.visible.has(column.property));
