/**
 * `createCrud`: procedures for a table, each answered by one generated SQL function.
 * Next hop: `crud-options.ts` checks the options and `crud-input.ts` what comes in, `src/crud/crud-sql.ts` writes the
 * functions, `src/crud/statement.ts` calls them.
 */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { PgTable, PgView } from "drizzle-orm/pg-core";
import { type ColumnDescription, type CrudDefinition, type CrudOperation, crudOperations } from "../contract/crud.ts";
import type { Schema } from "../contract/database.ts";
import { definedAt } from "../contract/defined-at.ts";
import type { Procedure, ProcedureBuilders, ProcedureDefinition } from "../contract/procedure.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { isStorableText } from "../kit/storable-text.ts";
import { tableConfig } from "../kit/table-config.ts";
import { describeAggregate } from "./aggregate.ts";
import { describeColumns } from "./columns.ts";
import { checkHistory } from "./crud-history.ts";
import { crudHook } from "./crud-hooks.ts";
import { importProcedure } from "./crud-import.ts";
import { crudValues } from "./crud-input.ts";
import { checkWritableKeys, describeKeys } from "./crud-keys.ts";
import { shapeOf } from "./crud-list.ts";
import { checkCrudOptions, checkOptionKinds, describeTransfer, operationsOf } from "./crud-options.ts";
import { describeRealtime } from "./crud-realtime.ts";
import { argumentTypes, functionName } from "./crud-text.ts";
import type { Checked, CrudOptions } from "./crud-types.ts";
import { optionsOfView, type ProceduresOf, sourceOf, type TableOf } from "./crud-views.ts";
import { closedRelation } from "./related-arguments.ts";
import { noAccessToAuth } from "./relations.ts";
import { ownerColumns } from "./rls.ts";
import { scopesOfPolicies } from "./scoped.ts";

/** Those that answer null where there is no row. */
const orNull = new Set<CrudOperation>(["list", "get", "aggregate"]);
// biome-ignore format: one line per kind
const kinds: Record<CrudOperation, "query" | "mutation"> = {
  list: "query", get: "query", aggregate: "query", history: "query", deliveries: "query",
  create: "mutation", update: "mutation", remove: "mutation", upsert: "mutation", retryDelivery: "mutation",
  createMany: "mutation", updateMany: "mutation", removeMany: "mutation",
};

/**
 * Creates the application's `createCrud`. Call it once, in `runtime.ts`.
 *
 * @param schema the application's tables and relations(); the option `include` finds relations in it
 * @param _procedure the application's procedure builders: they carry the schema's types
 * @example
 * export const createCrud = createCrudFactory(procedure, schema);
 */
export function createCrudFactory<S extends Schema>(_procedure: ProcedureBuilders<S>, schema?: S) {
  /**
   * Registers `<prefix>.list`, `get`, `create`, `update` and `remove` for a table with an `id` and declared policies, the
   * first two for a view with `security_invoker`; with `upsertBy` also `upsert`, with `many` `createMany`, `updateMany` and
   * `removeMany`, with `history` `history`, with `deliveries` `deliveries` and `retryDelivery`.
   *
   * @throws DefinitionError when the table has no usable `id` or no policy, or an option is invalid
   */
  return function createCrud<T extends PgTable | PgView, const O extends object = object>(
    source: T,
    options?: Checked<O, CrudOptions<TableOf<T>>> & CrudOptions<TableOf<T>>,
  ): ProceduresOf<T, O> {
    const { table, view } = sourceOf(source);
    const asked = (options ?? {}) as CrudOptions;
    checkOptionKinds(getTableName(table), asked);
    const given = view ? optionsOfView(getTableName(table), asked) : asked;
    const crud = describeCrud(table, view, given, schema);
    const place = definedAt(given.allowAnonymous ?? false, `createCrud(${crud.prefix})`, createCrud);
    const procedures: Record<string, Procedure> = Object.fromEntries(
      crud.methods.map((operation) => {
        const procedure = { ...toProcedure(crud, operation, given), ...place };
        return [operation, { "~svc": { procedure } }];
      }),
    );
    if (crud.transfer.import) procedures.import = importProcedure(crud);
    return procedures as unknown as ProceduresOf<T, O>;
  };
}

/** @param view not null when the table stands for one, and has no policies of its own */
function describeCrud(
  table: PgTable,
  view: { schema: string } | null,
  options: CrudOptions,
  application: Schema | undefined,
): CrudDefinition {
  const name = getTableName(table);
  const { schema = view?.schema ?? "public", policies } = tableConfig(table);
  const columns = describeColumns(table);
  const id = findId(name, columns);
  const { methods = crudOperations } = options;
  if (methods.includes("create")) checkNewId(name, id, table);
  if (policies.length === 0 && !view) {
    throw new DefinitionError(`createCrud: table "${name}" declares no policy, so it would deny everybody.`, {
      hint: schema === "auth" ? noAccessToAuth : declarePolicies,
    });
  }
  checkNames([schema, name, ...columns.flatMap((column) => [column.name, column.property])]);
  checkArrays(name, columns);
  if (methods.includes("update")) checkUpdatedAt(name, columns);
  checkCrudOptions(name, columns, options);
  if (options.history) checkHistory(table, id);
  const visible = visibleColumns(columns, options);
  const { prefix = name, defaultLimit = 20, maxLimit = 100, count = "exact" } = options;
  if (!/^[A-Za-z_]\w{0,49}$/.test(prefix)) {
    throw new DefinitionError(`createCrud: "${prefix}" cannot be a prefix.`, {
      hint: "Give the option prefix: a letter from a to z or _, then such letters, digits or _; at most 50 characters.",
    });
  }
  const owners = ownerColumns(policies);
  const softDelete = columns.find(({ property }) => property === options.softDelete?.field);
  const crud: CrudDefinition = {
    prefix,
    schema,
    table: name,
    isView: view !== null,
    id,
    columns,
    visible,
    searchFields: options.searchFields ?? [],
    allowedFilters: options.allowedFilters ?? [],
    softDelete,
    count,
    defaultLimit: Math.min(defaultLimit, maxLimit),
    maxLimit,
    methods: operationsOf(name, options),
    graphql: options.graphql ?? true,
    owners: columns.filter((column) => owners.includes(column.name)),
    scopes: scopesOfPolicies(policies),
    realtime: describeRealtime(name, options.realtime, methods.includes("list")),
    anonymous: options.allowAnonymous ?? false,
    getBy: describeKeys(table, columns, "getBy", options.getBy ?? [], softDelete),
    upsertBy: describeKeys(table, columns, "upsertBy", options.upsertBy ?? []),
    aggregate: describeAggregate(name, columns, visible, options.aggregate),
    transfer: describeTransfer(name, options),
    source: { table, schema: application, include: options.include ?? [] },
    relations: new Map(),
  };
  checkWritableKeys(crud);
  return crud;
}

/** PostgreSQL truncates longer names without an error; two names could become one, and values would be lost. */
function checkNames(names: readonly string[]): void {
  for (const name of names) {
    const bytes = Buffer.byteLength(name);
    if (bytes > 0 && bytes <= 63 && isStorableText(name)) continue;
    throw new DefinitionError(`createCrud: ${JSON.stringify(name)} cannot be the name of a table or column.`, {
      hint: "Use 1 to 63 bytes of UTF-8 without NUL, both for the column and for its property.",
    });
  }
}

/** Each update would fail. */
function checkUpdatedAt(table: string, columns: readonly ColumnDescription[]): void {
  const { type, kind, isArray } = columns.find(({ property }) => property === "updatedAt") ?? {};
  if (type === undefined || (!isArray && (kind === "timestamp" || kind === "date"))) return;
  const hint = 'Make it timestamp("updated_at", { withTimezone: true }), or give the column another name.';
  const message = `createCrud: updatedAt of "${table}" has the type ${type}, but update sets it to the current time.`;
  throw new DefinitionError(message, { hint });
}

/** PostgreSQL would store the letters of base64, and ignore the offsets of times. */
function checkArrays(table: string, columns: readonly ColumnDescription[]): void {
  for (const { property, type, kind, dimensions } of columns) {
    const isConverted = kind === "bytes" || (kind === "timestamp" && !type.includes("with time zone"));
    const hint =
      kind === "vector" && dimensions > 0
        ? "Arrays of vectors are not possible. Keep each vector in a row of its own, where a search can find it."
        : isConverted && dimensions > 1
          ? "Arrays of arrays of bytes or of times without a zone are not possible. Use jsonb, or timestamps with time zone."
          : undefined;
    if (hint) throw new DefinitionError(`createCrud: "${property}" of "${table}" has the type ${type}.`, { hint });
  }
}

const idKinds = new Set(["integer", "bigint", "uuid", "text"]);

function findId(table: string, columns: ColumnDescription[]): ColumnDescription {
  const id = columns.find((column) => column.property === "id");
  if (!id) {
    throw new DefinitionError(`createCrud: table "${table}" must have an id column.`, {
      hint:
        'Add one, such as id: serial("id").primaryKey() or id: uuid("id").primaryKey().defaultRandom(). A join table needs ' +
        "no createCrud: name it in include of another, as { name, through }.",
    });
  }
  if (!idKinds.has(id.kind) || id.isArray) {
    throw new DefinitionError(`createCrud: the id of table "${table}" has the type ${id.type}.`, {
      hint: "Make it serial, bigserial, integer, bigint, uuid or text.",
    });
  }
  if (!id.unique) {
    throw new DefinitionError(`createCrud: the id of table "${table}" is not the primary key.`, {
      hint: "Add .primaryKey() to it: get, update and remove find a row by its id alone.",
    });
  }
  return id;
}

/** Callers cannot choose ids, so the database must generate them. Text and UUID ids without a default get a UUID. */
function checkNewId(name: string, id: ColumnDescription, table: PgTable): void {
  if (id.defaultSql !== null || id.generate || getTableColumns(table).id?.generated) return;
  if (!["uuid", "text", "varchar"].includes(id.type)) {
    throw new DefinitionError(`createCrud: the id of table "${name}" has no default, so create cannot insert a row.`, {
      hint: "Give it one, as serial() and .$defaultFn(…) do, or leave create out of { methods }.",
    });
  }
  id.generate = () => crypto.randomUUID();
}

function visibleColumns(columns: ColumnDescription[], { columns: choice }: CrudOptions): ReadonlySet<string> {
  const all = columns.map(({ property }) => property);
  if (!choice) return new Set(all);
  if ("pick" in choice) return new Set(["id", ...choice.pick]);
  const omitted = new Set<string>(choice.omit);
  return new Set(all.filter((property) => property === "id" || !omitted.has(property)));
}

function toProcedure(crud: CrudDefinition, operation: CrudOperation, options: CrudOptions): ProcedureDefinition {
  const kind = kinds[operation];
  const name = `${crud.prefix}.${operation}`;
  // Deliveries are read as a user: without one there is no endpoint that is theirs.
  const isOfUsers = operation === "deliveries" || operation === "retryDelivery";
  return {
    name,
    kind,
    anonymous: !isOfUsers && (options.allowAnonymous ?? false),
    output: undefined,
    run: () => Promise.reject(new Error(`${name} is answered by its SQL function`)),
    statement: {
      function: functionName(crud, operation),
      table: crud.schema === "public" ? crud.table : `${crud.schema}.${crud.table}`,
      each: argumentTypes(crud, operation),
      absent: orNull.has(operation) ? "null" : "not-found",
      values: crudValues(crud, operation),
      ...((operation === "list" || operation === "get") && { shape: shapeOf(crud, operation) }),
      ...((kind === "query" || operation.endsWith("Many")) && { closed: (input) => closedRelation(crud, input) }),
      before: crudHook(crud, operation, options),
    },
    crud,
  };
}

const declarePolicies =
  "Return one of these from the table's third argument: ownerRls(t.userId) for rows of a user, orgRls(t.orgId) for rows of an organization, " +
  'openRls({ read: "anyone", write: "authenticated" }) for rows without an owner, or your own pgPolicy(…).';
