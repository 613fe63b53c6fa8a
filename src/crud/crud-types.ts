/**
 * The types of generated CRUD, from the table's declaration and the options to the caller. They read the table's own
 * `$inferInsert`: through drizzle's InferInsertModel, TypeScript 5.9 loses the columns with defaults.
 */
import type { PgTable } from "drizzle-orm/pg-core";
import type { Context } from "../contract/context.ts";
import type { CrudMethod, IncludeOption, RealtimeScope, RowContext } from "../contract/crud.ts";
import type { Procedure, ProcedureKind } from "../contract/procedure.ts";
import type { AggregateArguments, Aggregates } from "./aggregate-types.ts";
import type { AcceptedRow, ConditionsOf, FiltersOf } from "./crud-filters.ts";
import type { Deliveries, Delivery, RetryArguments } from "./delivery-types.ts";
import type { History, HistoryArguments } from "./history-types.ts";

/** Columns that callers cannot write. */
type Managed = "id" | "userId" | "createdAt" | "updatedAt";

type Flat<T> = { [K in keyof T]: T[K] } & {};

/** A row with all of its columns. */
export type CrudRow<T extends PgTable> = Flat<T["$inferSelect"]>;
type CrudId<T extends PgTable> = T["$inferSelect"] extends { id: infer Id } ? Id : never;
/** The columns that `create` takes. */
type CrudCreate<T extends PgTable> = Flat<Omit<T["$inferInsert"], Managed>>;

/**
 * The input of `list`. Without it: the first page in the default order.
 *
 * @typeParam O the options of `createCrud`, which decide what may be filtered. (Default: any, and all columns may)
 */
export type CrudListArguments<T extends PgTable = PgTable, O = CrudOptions<T>> = ListArguments<
  Visible<T, O> & string,
  Filterable<T, O>
>;

/** Two type parameters keep the compiler's messages short. */
export interface ListArguments<Column extends string, Conditions> {
  /** From 1; less means 1. (Default: 1) */
  page?: number | undefined;
  /** Clamped to 1 and the resource's maximum, 100 unless declared otherwise. (Default: 20) */
  limit?: number | undefined;
  /** Text that stands in one of the resource's `searchFields`, ignoring case. */
  search?: string | undefined;
  /** Property to sort by, of those that callers see. (Default: createdAt) */
  orderBy?: Column | undefined;
  /** (Default: "desc") */
  orderDir?: "asc" | "desc" | undefined;
  /** Conditions on the resource's `allowedFilters`. */
  filters?: FiltersOf<Conditions> | undefined;
  /** Where the page begins: null for the first page, then each answer's `nextCursor`. Replaces `page`. */
  cursor?: string | null | undefined;
}

export interface CrudList<Row> {
  data: Row[];
  /** All rows that the caller may see, on every page; null where the resource does not count. */
  total: number;
  /** Only when `cursor` was given: where the next page begins, or null at the end. */
  nextCursor?: string | null;
}

type PrefixOf<T extends PgTable, O> = O extends { prefix: infer P extends string } ? P : T["_"]["name"];

/** The columns that the option `columns` keeps. */
type Visible<T extends PgTable, O> = O extends { columns: { pick: readonly (infer K)[] } }
  ? K | "id"
  : O extends { columns: { omit: readonly (infer K)[] } }
    ? Exclude<keyof CrudRow<T>, K> | "id"
    : keyof CrudRow<T>;

/** The filters of a list that allows none. */
// biome-ignore lint/suspicious/noEmptyInterface: the compiler says its name to who filters such a list
export interface NoAllowedFilters {}

/** The columns that may be filtered: none without the option, all where the compiler cannot see the options. */
type Filterable<T extends PgTable, O> = O extends { allowedFilters: readonly (infer K extends keyof CrudRow<T>)[] }
  ? Flat<ConditionsOf<T, K>>
  : "allowedFilters" extends keyof O
    ? Flat<ConditionsOf<T, keyof CrudRow<T>>>
    : NoAllowedFilters;

type RowOf<T extends PgTable, O> = Flat<Pick<CrudRow<T>, Visible<T, O> & keyof CrudRow<T>>>;
type CreateOf<T extends PgTable, O> = AcceptedRow<T, Pick<CrudCreate<T>, Visible<T, O> & keyof CrudCreate<T>>>;

/** `ifUnmodifiedSince` is for tables with `updatedAt`: the update fails with 409 when the row has changed since. */
type UpdateOf<T extends PgTable, O> = Flat<
  { id: CrudId<T> } & Partial<CreateOf<T, O>> &
    (CrudRow<T> extends { updatedAt: infer At } ? { ifUnmodifiedSince?: At | string } : object)
>;

/** The columns by which `get` finds a row besides `id`. */
type KeyOf<T extends PgTable, O> = O extends { getBy: readonly (infer Key)[] }
  ? Key extends readonly (infer Property extends keyof CrudRow<T>)[]
    ? { [P in Property]: NonNullable<CrudRow<T>[P]> }
    : Key extends keyof CrudRow<T>
      ? { [P in Key]: NonNullable<CrudRow<T>[P]> }
      : never
  : never;

type MethodsOf<O> = O extends { methods: readonly (infer M extends CrudMethod)[] } ? M : CrudMethod;

type OperationsOf<O, M = MethodsOf<O>> =
  | MethodsOf<O>
  | (O extends { upsertBy: readonly [unknown, ...unknown[]] } ? "upsert" : never)
  | (O extends { aggregate: object } ? "aggregate" : never)
  | (O extends { transfer: { import: true } } ? "import" : never)
  | (O extends { history: true } ? "history" : never)
  | (O extends { deliveries: true } ? "deliveries" | "retryDelivery" : never)
  | (O extends { many: true } ? ManyOf<M> : never);

type ManyOf<M> =
  | ("create" extends M ? "createMany" : never)
  | ("list" extends M
      ? ("update" extends M ? "updateMany" : never) | ("remove" extends M ? "removeMany" : never)
      : never);

type UpsertKey<O> = O extends { upsertBy: readonly (infer K)[] } ? K : never;

/** The result is the id of a run: `workflows.get` shows its progress. */
interface ImportArguments<Key> {
  /** A stored file of the caller. */
  storageId: string;
  format: "csv" | "ndjson";
  /** (Default: "insert") */
  mode?: "insert" | "upsert" | undefined;
  /** The key of an upsert. */
  by?: Key | undefined;
}

/** The result of an operation on many rows that returns them, in the order of the arguments. */
interface CrudMany<Row> {
  count: number;
  data: Row[];
}

/** The result of `createCrud`. A type alias, because only aliases are assignable to a record of procedures. */
export type CrudProcedures<T extends PgTable, O = object> = Pick<
  {
    list: Crud<
      `${PrefixOf<T, O>}.list`,
      "query",
      ListArguments<Visible<T, O> & string, Filterable<T, O>> | undefined,
      CrudList<RowOf<T, O>>
    >;
    get: Crud<`${PrefixOf<T, O>}.get`, "query", { id: CrudId<T> } | KeyOf<T, O>, RowOf<T, O> | null>;
    create: Crud<`${PrefixOf<T, O>}.create`, "mutation", CreateOf<T, O>, RowOf<T, O>>;
    update: Crud<`${PrefixOf<T, O>}.update`, "mutation", UpdateOf<T, O>, RowOf<T, O>>;
    remove: Crud<`${PrefixOf<T, O>}.remove`, "mutation", { id: CrudId<T> }, { id: CrudId<T> }>;
    upsert: Crud<`${PrefixOf<T, O>}.upsert`, "mutation", { by: UpsertKey<O>; row: CreateOf<T, O> }, RowOf<T, O>>;
    import: Crud<`${PrefixOf<T, O>}.import`, "mutation", ImportArguments<UpsertKey<O>>, { id: string }>;
    createMany: Crud<
      `${PrefixOf<T, O>}.createMany`,
      "mutation",
      { rows: readonly CreateOf<T, O>[] },
      CrudMany<RowOf<T, O>>
    >;
    aggregate: Crud<
      `${PrefixOf<T, O>}.aggregate`,
      "query",
      AggregateArguments<T, O, Filterable<T, O>>,
      Aggregates<T, O>
    >;
    history: Crud<`${PrefixOf<T, O>}.history`, "query", HistoryArguments<CrudId<T>>, History<Visible<T, O> & string>>;
    deliveries: Crud<`${PrefixOf<T, O>}.deliveries`, "query", HistoryArguments<CrudId<T>>, Deliveries>;
    retryDelivery: Crud<`${PrefixOf<T, O>}.retryDelivery`, "mutation", RetryArguments<CrudId<T>>, Delivery>;
    updateMany: Crud<
      `${PrefixOf<T, O>}.updateMany`,
      "mutation",
      { filters: FiltersOf<Filterable<T, O>>; set: Partial<CreateOf<T, O>>; max: number },
      { count: number }
    >;
    removeMany: Crud<
      `${PrefixOf<T, O>}.removeMany`,
      "mutation",
      { filters: FiltersOf<Filterable<T, O>>; max: number },
      { count: number }
    >;
  },
  OperationsOf<O>
>;

/** One of the procedures. Four type parameters keep the compiler's messages short. */
export interface Crud<Name extends string, Kind extends ProcedureKind, Input, Output>
  extends Procedure<{ name: Name; kind: Kind; input: Input; output: Output }> {}

/** Lists in buckets: subscribers of a list are notified only of rows in its scope. */
export interface ScopedRealtime<T extends PgTable = PgTable> {
  /** "authorized": `authorize` decides who may watch a scope. "public": everybody who may call the list. */
  policy: "authorized" | "public";
  /** Names the rows in the buckets. Resources with the same identity and policy share buckets. */
  resourceIdentity: string;
  /** The scope of a list. Called with unchecked client input: every member may be missing or of another type. */
  scope(args: CrudListArguments<T>): RealtimeScope;
  /**
   * The scope of a row, called with its old and its new version. Rows come from the write-ahead log, so there is no
   * request, and the function must be synchronous.
   */
  scopeFromRow(call: { row: CrudRow<T>; ctx: RowContext }): RealtimeScope;
  /** Whether the caller may watch the list. Required where the policy is "authorized", unused otherwise. */
  authorize?(call: { ctx: Context; args: CrudListArguments<T> }): boolean | Promise<boolean>;
}

export type RealtimeOption<T extends PgTable> = false | { listRealtime?: boolean } | ScopedRealtime<T>;

/** Passed to a hook besides the data. */
export interface CrudHookCall {
  context: Context;
}

/** The names of a table's columns. A conditional type, because the compiler's messages write it out. */
export type Property<T extends PgTable> = Names<keyof CrudRow<T>>;
type Names<K> = K extends string ? K : never;

/** An argument from which `O` is inferred, also when it is wrong: with `O extends Options`, a mistake in one option would lose the others. */
export type Checked<O, Options> = [O, keyof O] extends [Options, keyof Options] ? O : Options;

export interface CrudOptions<T extends PgTable = PgTable> {
  /** Allows calls without authentication. The table's policies then decide what the caller may see and do. (Default: false) */
  allowAnonymous?: boolean | undefined;
  /** First part of the five names. (Default: the table's name) */
  prefix?: string | undefined;
  /** Columns in which `search` looks, ignoring case. (Default: none, and `search` is ignored) */
  searchFields?: readonly Property<T>[] | undefined;
  /** Columns that `filters` may name. (Default: none, and `filters` is ignored) */
  allowedFilters?: readonly Property<T>[] | undefined;
  /**
   * Relations that `list` and `get` may include and filter by: of relations() of the schema, or of foreign keys where these are
   * unambiguous; `{ name, through }` leads through a join table. The related table needs a resource of its own. (Default: none)
   */
  include?: readonly IncludeOption[] | undefined;
  /**
   * Unique columns of whole numbers, texts, uuids or enums by which `get` finds a row besides `id`; a list for a
   * constraint of several. With `softDelete`, a unique index of the rows that are not deleted counts, too. (Default: none)
   */
  getBy?: readonly (Property<T> | readonly Property<T>[])[] | undefined;
  /** Unique columns by which `upsert` finds the row that it changes, written as in `getBy`. (Default: there is no `upsert`) */
  upsertBy?: readonly (Property<T> | readonly Property<T>[])[] | undefined;
  /** Whether there are `createMany`, `updateMany` and `removeMany`, as far as `methods` allows. (Default: false) */
  many?: boolean | undefined;
  /** The columns by which `aggregate` may group, and what it may measure. (Default: there is no `aggregate`) */
  aggregate?:
    | {
        groupBy?: readonly Property<T>[] | undefined;
        measures: readonly ("count" | `${"sum" | "avg" | "min" | "max"}:${Property<T>}`)[];
      }
    | undefined;
  /**
   * Files of rows: `export` answers GET /api/export/<prefix>.csv and .ndjson, `import` adds the mutation of that name.
   * (Default: neither)
   */
  transfer?: { export?: boolean; import?: boolean } | undefined;
  /** Rows per page when the caller does not say. (Default: 20) */
  defaultLimit?: number | undefined;
  /** The most rows per page that a caller gets. (Default: 100) */
  maxLimit?: number | undefined;
  /** Marks rows as deleted in a timestamp or boolean column instead of removing them. (Default: off) */
  softDelete?: { field: Property<T> } | undefined;
  /** Whether `history` shows what changed in a row, to those who see it. The table must be `audited()`. (Default: false) */
  history?: boolean | undefined;
  /**
   * Whether `deliveries` shows what webhooks deliver to a row, to those who see it, and `retryDelivery` sends a dead delivery
   * again, for those who may update it. The table must be `endpoints` of a webhook. (Default: false)
   */
  deliveries?: boolean | undefined;
  /** How `total` is made: counted, taken from the planner's statistics, or left null. (Default: "exact") */
  count?: "exact" | "estimated" | "none" | undefined;
  /** The columns that callers see and write; `id` is always among them. (Default: all) */
  columns?: { pick: readonly Property<T>[] } | { omit: readonly Property<T>[] } | undefined;
  /** Which of the five operations exist. (Default: all) */
  methods?: readonly CrudMethod[] | undefined;
  /** Whether GraphQL shows the table as this resource does. (Default: true for the first resource of a table) */
  graphql?: boolean | undefined;
  /**
   * What subscribers are notified of: lists and single rows, only single rows (`{ listRealtime: false }`), nothing
   * (`false`), or single rows and the lists of a row's scope (`{ policy, resourceIdentity, scope, scopeFromRow,
   * authorize }`). (Default: lists and single rows)
   */
  realtime?: RealtimeOption<T> | undefined;
  /** Run inside the call's transaction, on checked input. Their results are checked again. */
  hooks?:
    | {
        /** Runs for each row of `createMany`, too. */
        beforeCreate?(data: CrudCreate<T>, call: CrudHookCall): CrudCreate<T> | Promise<CrudCreate<T>>;
        /** `id` is the row's; for `updateMany` it runs for each. The hook runs before we know whether the row exists and the caller may change it. */
        beforeUpdate?(
          data: Partial<CrudCreate<T>>,
          call: CrudHookCall & { id: CrudId<T> },
        ): Partial<CrudCreate<T>> | Promise<Partial<CrudCreate<T>>>;
        /** Throwing prevents the deletion. The result is awaited and ignored. Also runs before the row is looked up, and for each row of `removeMany`. */
        beforeRemove?(id: CrudId<T>, call: CrudHookCall): unknown;
        /** Returns the row that `upsert` inserts, whose columns are also its changes to a row that is there. */
        beforeUpsert?(data: CrudCreate<T>, call: CrudHookCall): CrudCreate<T> | Promise<CrudCreate<T>>;
      }
    | undefined;
}
