/** The definition of one `createCrud` for other folders: its columns, its options, and how it is answered. */
import type { PgTable } from "drizzle-orm/pg-core";
import type { Logger } from "pino";
import type { Context } from "./context.ts";

export const crudOperations = ["list", "get", "create", "update", "remove"] as const;

/** What the option `methods` chooses from. */
export type CrudMethod = (typeof crudOperations)[number];

/** With those that have options of their own: `upsertBy`, `many`, `aggregate`, `history` and `deliveries`. */
export type CrudOperation =
  | CrudMethod
  | "upsert"
  | "createMany"
  | "updateMany"
  | "removeMany"
  | "aggregate"
  | "history"
  | "deliveries"
  | "retryDelivery";

/** The definition of one `createCrud`, for the code generator and the server. */
export interface CrudDefinition {
  prefix: string;
  schema: string;
  /** The table, or the view. */
  table: string;
  /** A view has no policies and no entries in the log: those of its tables count. */
  isView: boolean;
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
  /** The columns with the ids of those who read a row, if nobody else does. Only they get events about it. */
  owners: readonly ColumnDescription[];
  /** The scopes of which an API key needs one, as `scoped` declares them; undefined where only the policies know. */
  scopes: { read: readonly string[]; write: readonly string[] } | undefined;
  /** What subscribers are notified of; null: nothing. */
  realtime: RealtimeDefinition | null;
  /** Whether callers without a session may read through it. */
  anonymous: boolean;
  /** Unique constraints by which `get` finds a row, each as its properties. */
  getBy: readonly (readonly string[])[];
  /** Unique constraints by which `upsert` finds the row that it changes, each as its properties. */
  upsertBy: readonly (readonly string[])[];
  /** What `aggregate` may group by and measure, by name; null: it does not exist. */
  aggregate: { groups: Record<string, AggregatePart>; measures: Record<string, AggregatePart> } | null;
  /** Whether rows leave as files and come in from them. src/transfer/ does both. */
  transfer: { export: boolean; import: boolean };
  /** The table's declaration, and what its `include` names; src/crud/relations.ts makes relations of it. */
  source: RelationSource;
  /** By name: what `include` and `filters` may follow. Filled by defineApi, which knows all resources. */
  relations: Map<string, CrudRelation>;
}

/** A group or measure of `aggregate`. */
export interface AggregatePart {
  /** Over the alias t; $1 is the time zone. */
  sql: string;
  /** Whether its values travel as text, such as numbers that are wider than JSON's. */
  text: boolean;
}

/** What `include` of createCrud takes: a relation's name, or a name and the join table that leads to other rows. */
export type IncludeOption = string | { name: string; through: PgTable; on?: string };

export interface RelationSource {
  table: PgTable;
  /** The application's schema, if createCrudFactory got it: where relations() and other tables are. */
  schema: Record<string, unknown> | undefined;
  include: readonly IncludeOption[];
}

/** A relation between the rows of two resources. Columns are named as in the database. */
export interface CrudRelation {
  target: CrudDefinition;
  /** Whether it leads to a list of rows, or to one. */
  many: boolean;
  /** Columns of this table, and those of the target (or of the join table) that they equal. */
  local: readonly string[];
  foreign: readonly string[];
  /** The join table between the two; null when the target refers to this table, or this one to the target. */
  through: JoinTable | null;
}

export interface JoinTable {
  schema: string;
  table: string;
  /** Equal to `local` of the relation, and to its `foreign`. */
  local: readonly string[];
  foreign: readonly string[];
  /** Its soft deletion, if it has a resource with one. */
  softDelete: ColumnDescription | undefined;
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
  /** Levels of arrays: 2 for `integer[][]`, 0 for a single value. */
  dimensions: number;
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
  /** Converts a point or line as the application has it to PostgreSQL's text; other values are unchanged. */
  toText?(value: unknown): unknown;
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
export type Conversion = "date" | "bigint" | "number" | "bytes" | "numbers" | "xy" | "abc";

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

/** How the lists of a resource are partitioned into scopes: `ScopedRealtime` (src/crud/crud-realtime.ts) of any table. */
interface RealtimeBuckets {
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

/** What lists or gets have in common that one prepared statement answers, and the values of one of them. */
export interface ReadShape {
  /** The function of `svc` that writes the statement. */
  writer: "list_statement" | "get_statement";
  /** Distinguishes the shapes of all resources. */
  key: string;
  /** Name of the function that describes the resource. */
  resource: string;
  /** As the writer takes it. */
  shape: object;
  /**
   * Of a list: number of rows of a page and before it, unless the shape has a limit; search; values of the filters; the
   * cursor. Of a get: the values of the key.
   */
  values: string[];
  /** Of a statement whose plan may be kept: the values that decide about it. (Default: it is planned for each call) */
  compared?: Compared;
}

/** Values that columns are compared with by equality. */
export interface Compared {
  crud: CrudDefinition;
  /** The column by its name in the database. */
  values: readonly { column: string; value: string }[];
}

/** Calls a generated function inside the transaction of its hook. */
type StatementCall = (values: (string | number | null)[]) => Promise<string | null>;

/** How a generated procedure is answered. */
export interface CrudStatement {
  /** Name of the function in schema svc_crud. */
  function: string;
  /** Name of the table, with its schema unless that is `public`; for hints. */
  table: string;
  /** Types of its arguments, if one statement may call it for each of several calls of a batch. */
  each?: readonly string[] | undefined;
  /** What an empty result means: an answer (`get`) or a missing row. */
  absent: "null" | "not-found";
  /** Converts a call's input to the function's arguments. @throws SvcError VALIDATION_FAILED */
  values(input: unknown): (string | number | null)[];
  /** Of a list or get that is answered by a prepared statement, its shape. (Default: there is none) */
  shape?(values: (string | number | null)[]): ReadShape | undefined;
  /** The path to the first relation of the input whose resource needs a session. (Default: there is none) */
  closed?(input: unknown): string | undefined;
  /** A hook that computes the input of `values`. The call then needs its own transaction. */
  before?(input: unknown, context: Context, call: StatementCall): Promise<unknown>;
}
