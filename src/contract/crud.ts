/** The definition of one `createCrud` for other folders: its columns, its options, and how it is answered. */
import type { Logger } from "pino";
import type { Context } from "./context.ts";

export const crudOperations = ["list", "get", "create", "update", "remove"] as const;

export type CrudOperation = (typeof crudOperations)[number];

/** The definition of one `createCrud`, for the code generator and the server. */
export interface CrudDefinition {
  prefix: string;
  schema: string;
  table: string;
  id: ColumnDescription;
  /** Every column of the table. */
  columns: ColumnDescription[];
  /** Properties that callers can read, and write unless they are managed. */
  visible: ReadonlySet<string>;
  searchFields: readonly string[];
  allowedFilters: readonly string[];
  softDelete: ColumnDescription | undefined;
  count: "exact" | "estimated" | "none";
  defaultLimit: number;
  maxLimit: number;
  methods: readonly CrudOperation[];
  /** Whether GraphQL may expose the table through this resource. src/graphql/exposed.ts chooses between several. */
  graphql: boolean;
  /** The column with the owner's id, if rows are private to their owner. Only the owner gets events about them. */
  owner: ColumnDescription | null;
  /** What subscribers are notified of; null: nothing. */
  realtime: RealtimeDefinition | null;
}

export interface ColumnDescription {
  /** The property of the table object; also the name on the wire. */
  property: string;
  /** Name in the database. */
  name: string;
  /** PostgreSQL type as declared, for example `numeric(10,2)`. */
  type: string;
  /** The PostgreSQL type that values are cast to: schema-qualified unless built in, without length or scale. */
  castType: string;
  kind: WireKind;
  isArray: boolean;
  notNull: boolean;
  /** The SQL default for a missing value, or null if there is none. */
  defaultSql: string | null;
  /** Whether a missing value is filled from a serial or identity column. SQL has no expression for that. */
  numbered: boolean;
  /** Checks that the type requires of well-formed values. */
  limit: ColumnLimit | undefined;
  /** Allowed values of an enum column. */
  values: readonly string[] | undefined;
  /** Set by the database or by svc, never from input. */
  managed: boolean;
  /** Whether values are unique: a primary key or a unique column by itself. */
  unique: boolean;
  /** Drizzle's `$defaultFn`: computes the value of a new row in this process. */
  generate: (() => unknown) | undefined;
  /** Converts a checked value to the application's type, such as Date or bigint. */
  toApplication(value: unknown): unknown;
  /** Converts the driver's value to the one that `ctx.db` returns. */
  fromDriver(value: unknown): unknown;
  /**
   * The conversion with which clients turn the wire's value, or each element of an array, into the value that Drizzle
   * would return.
   */
  conversion: Conversion | null;
}

/** A check of values that already have the form of the column's kind. */
export interface ColumnLimit {
  /** Completes the sentence "… must be". */
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

/** The arguments that distinguish rows and lists: a plain object that JSON can represent. */
export type RealtimeScope = Readonly<Record<string, unknown>>;

/** Arguments of `scopeFromRow` besides the row. */
export interface RowContext {
  log: Logger;
}

/**
 * How the lists of a resource are partitioned into scopes: `ScopedRealtime` (src/crud/crud-realtime.ts) of any table.
 */
export interface RealtimeBuckets {
  policy: "authorized" | "public";
  resourceIdentity: string;
  scope(args: object): RealtimeScope;
  scopeFromRow(call: { row: object; ctx: RowContext }): RealtimeScope;
  authorize?(call: { ctx: Context; args: object }): boolean | Promise<boolean>;
}

/** What subscribers of a resource are notified of. */
export interface RealtimeDefinition {
  /** Whether lists are notified. */
  list: boolean;
  /** Set if lists have scopes. */
  scoped: RealtimeBuckets | null;
}

/** How a generated procedure is answered. */
export interface CrudStatement {
  /** Name of the function in schema svc_crud. */
  function: string;
  /** Name of the table, with its schema unless that is `public`; for hints. */
  table: string;
  /** What an empty result means: an answer (`get`) or a missing row. */
  absent: "null" | "not-found";
  /** Converts a call's input to the function's arguments. @throws SvcError VALIDATION_FAILED */
  values(input: unknown): (string | number)[];
  /** A hook that computes the input of `values`. The call then needs its own transaction. */
  before?(input: unknown, context: Context): Promise<unknown>;
}
