/** What the other folders know of one `createCrud`: its columns, its options, and how it is answered. */
import type { Logger } from "pino";
import type { Context } from "./context.ts";

export const crudOperations = ["list", "get", "create", "update", "remove"] as const;

export type CrudOperation = (typeof crudOperations)[number];

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

export interface ColumnDescription {
  /** Property of the table object, the name on the wire. */
  property: string;
  /** Name in the database. */
  name: string;
  /** PostgreSQL type as declared, for example `numeric(10,2)`. */
  type: string;
  /** The same as values are cast to it: schema-qualified where it is not PostgreSQL's own, without length or scale. */
  castType: string;
  kind: WireKind;
  isArray: boolean;
  notNull: boolean;
  /** SQL that stands for a missing value, or null when there is none. */
  defaultSql: string | null;
  /** Whether a missing value is the next number of a serial or identity column, for which SQL has no expression. */
  numbered: boolean;
  /** What the type allows of values that have the right form. */
  limit: ColumnLimit | undefined;
  /** Allowed values of an enum column. */
  values: readonly string[] | undefined;
  /** Set by the database or by svc, never from input. */
  managed: boolean;
  /** Whether no two rows share a value: a primary key or a unique column by itself. */
  unique: boolean;
  /** Drizzle's `$defaultFn`: makes the value of a new row in this process. */
  generate: (() => unknown) | undefined;
  /** A checked value as the application's code knows it: a Date, a bigint. */
  toApplication(value: unknown): unknown;
  /** What the driver gives, as `ctx.db` would give it to the application's code. */
  fromDriver(value: unknown): unknown;
  /** What a client has to make of the wire's value, or of each in an array, to have what Drizzle would give it. */
  conversion: Conversion | null;
}

/** A check of values that have the form of the column's kind already. */
export interface ColumnLimit {
  /** Ends the sentence "… must be". */
  expects: string;
  holds(value: unknown): boolean;
}

/** The conversions that the SDK knows (client/sdk/src/rows.ts). */
export type Conversion = "date" | "bigint" | "number" | "bytes";

export type WireKind =
  | "integer"
  | "bigint"
  | "number"
  | "numeric"
  | "boolean"
  | "text"
  | "uuid"
  | "enum"
  | "timestamp"
  | "date"
  | "json"
  | "bytes"
  | "vector";

/** What rows and lists are told apart by: a plain object that JSON can hold. */
export type RealtimeScope = Readonly<Record<string, unknown>>;

/** What `scopeFromRow` gets beside the row. */
export interface RowContext {
  log: Logger;
}

/** How lists of a resource are put into buckets: `ScopedRealtime` (src/crud/crud-realtime.ts) of any table. */
export interface RealtimeBuckets {
  policy: "authorized" | "public";
  resourceIdentity: string;
  scope(args: object): RealtimeScope;
  scopeFromRow(call: { row: object; ctx: RowContext }): RealtimeScope;
  authorize?(call: { ctx: Context; args: object }): boolean | Promise<boolean>;
}

/** What subscribers of a resource hear of. */
export interface RealtimeDefinition {
  /** Whether lists are told. */
  list: boolean;
  /** Set where lists have buckets. */
  scoped: RealtimeBuckets | null;
}

/** How a generated procedure is answered. */
export interface CrudStatement {
  /** Name of the function in schema svc_crud. */
  function: string;
  /** Of the table, with its schema unless that is `public`; for hints. */
  table: string;
  /** What no row means: an answer (`get`) or a missing row. */
  absent: "null" | "not-found";
  /** Turns a call's input into the function's arguments. @throws SvcError VALIDATION_FAILED */
  values(input: unknown): (string | number)[];
  /** A hook: makes the input that `values` gets. With it the call needs a transaction of its own. */
  before?(input: unknown, context: Context): Promise<unknown>;
}
