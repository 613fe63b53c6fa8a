/**
 * `createCrud`: five procedures for a table, each answered by one generated SQL function.
 * Next hop: `crud-input.ts` checks what comes in, `src/codegen/crud-sql.ts` writes the functions,
 * `src/postgres/statement.ts` calls them.
 */
import { getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type { Schema } from "../context/types.ts";
import type { CrudStatement } from "../postgres/statement.ts";
import { type ColumnDescription, describeColumns } from "./columns.ts";
import { crudValues } from "./crud-input.ts";
import type { CrudProcedures } from "./crud-types.ts";
import { DefinitionError } from "./definition-error.ts";
import type { ProcedureBuilders, ProcedureDefinition } from "./procedure.ts";

export interface CrudOptions<Prefix extends string = string> {
  /** Skips authentication; what the caller then may see and do is up to the table's policies. (Default: false) */
  allowAnonymous?: boolean;
  /** Prefix of the five names. (Default: the table's name) */
  prefix?: Prefix;
  /** Rows per page when the caller does not say. (Default: 20) */
  defaultLimit?: number;
  /** The most rows per page that a caller gets. (Default: 100) */
  maxLimit?: number;
}

/** What the code generator and the server know of one `createCrud`. */
export interface CrudDefinition {
  prefix: string;
  schema: string;
  table: string;
  id: ColumnDescription;
  columns: ColumnDescription[];
  defaultLimit: number;
  maxLimit: number;
}

export const crudOperations = ["list", "get", "create", "update", "remove"] as const;
export type CrudOperation = (typeof crudOperations)[number];

const operations: Record<CrudOperation, Pick<CrudStatement, "absent"> & { kind: "query" | "mutation" }> = {
  list: { kind: "query", absent: "null" },
  get: { kind: "query", absent: "null" },
  create: { kind: "mutation", absent: "not-found" },
  update: { kind: "mutation", absent: "not-found" },
  remove: { kind: "mutation", absent: "not-found" },
};

/**
 * Makes the application's `createCrud`, once, in its `runtime.ts`.
 *
 * @param _procedure the application's procedure builders: they carry the schema's types
 * @example
 * export const createCrud = createCrudFactory(procedure);
 */
export function createCrudFactory<S extends Schema>(_procedure: ProcedureBuilders<S>) {
  /**
   * Registers `<prefix>.list | get | create | update | remove` for a table with an `id` and declared policies.
   *
   * @throws DefinitionError when the table has no `id` column or no policy, or an option makes no sense
   */
  return function createCrud<T extends PgTable, Prefix extends string = T["_"]["name"]>(
    table: T,
    options: CrudOptions<Prefix> = {},
  ): CrudProcedures<T, Prefix> {
    const crud = describeCrud(table, options);
    const procedures = Object.fromEntries(
      crudOperations.map((operation) => [operation, { "~svc": { procedure: toProcedure(crud, operation, options) } }]),
    );
    return Object.defineProperty(procedures, "~crud", { value: crud }) as unknown as CrudProcedures<T, Prefix>;
  };
}

/** Whether a value of the `procedures` bag came from `createCrud`. */
export const isCrud = (value: unknown): value is { "~crud": CrudDefinition } =>
  typeof value === "object" && value !== null && "~crud" in value;

function describeCrud(table: PgTable, options: CrudOptions): CrudDefinition {
  const name = getTableName(table);
  const { schema = "public", policies } = getTableConfig(table);
  const columns = describeColumns(table);
  const id = columns.find((column) => column.property === "id");
  if (!id) {
    throw new DefinitionError(`createCrud: table "${name}" must have an id column.`, {
      hint: 'Add one, such as id: serial("id").primaryKey() or id: uuid("id").primaryKey().defaultRandom().',
    });
  }
  if (policies.length === 0) {
    throw new DefinitionError(`createCrud: table "${name}" declares no policy, so it would deny everybody.`, {
      hint:
        "Return one of these from the table's third argument: ownerRls(t.userId) for rows of a user, " +
        'openRls({ read: "anyone", write: "authenticated" }) for rows of nobody, or your own pgPolicy(…).',
    });
  }
  const { prefix = name, defaultLimit = 20, maxLimit = 100 } = options;
  if (!/^[A-Za-z_]\w{0,49}$/.test(prefix)) {
    throw new DefinitionError(`createCrud: "${prefix}" cannot be a prefix.`, {
      hint: "Use a letter or _, then letters, digits or _; at most 50 characters.",
    });
  }
  for (const [option, value] of Object.entries({ defaultLimit, maxLimit })) {
    if (!Number.isInteger(value) || value < 1 || value > 10_000) {
      throw new DefinitionError(`createCrud: ${option} of "${prefix}" is ${value}.`, {
        hint: "Give a whole number from 1 to 10000.",
      });
    }
  }
  return { prefix, schema, table: name, id, columns, defaultLimit: Math.min(defaultLimit, maxLimit), maxLimit };
}

function toProcedure(crud: CrudDefinition, operation: CrudOperation, options: CrudOptions): ProcedureDefinition {
  const { kind, absent } = operations[operation];
  const name = `${crud.prefix}.${operation}`;
  return {
    name,
    kind,
    anonymous: options.allowAnonymous ?? false,
    output: undefined,
    run: () => Promise.reject(new Error(`${name} is answered by its SQL function`)),
    statement: { function: `${crud.prefix}_${operation}`, absent, values: crudValues(crud, operation) },
  };
}
