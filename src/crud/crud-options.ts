/**
 * The options of `createCrud`: their types, and a check when the definition is loaded.
 * Next hop: `crud.ts` builds procedures from them, `src/crud/crud-sql.ts` SQL.
 */
import { is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { z } from "zod";
import { type ColumnDescription, type CrudMethod, type CrudOperation, crudOperations } from "../contract/crud.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { boolean, callable, checkOptions, integer, must, oneOf, type ShapeOf } from "../kit/options.ts";
import { findColumn } from "./crud-definition.ts";
import type { CrudOptions, RealtimeOption } from "./crud-types.ts";

type Hooks = NonNullable<CrudOptions["hooks"]>;

const columnName = z.string(must("the name of a column"));
const columnNames = z.array(columnName, must("a list of columns")).readonly();

const includes = z
  .array(
    z.union(
      [
        z.string(must("the name of a relation")),
        z.strictObject({
          name: z.string(must("a text")),
          through: z.custom<PgTable>((one) => is(one, PgTable)),
          on: columnName.optional(),
        }),
      ],
      must("the name of a relation, or { name, through: schema.joinTable }"),
    ),
    must("a list of relations"),
  )
  .readonly();

const keys = z
  .array(z.union([columnName, columnNames], must("a column, or a list of columns")), must("a list of columns"))
  .readonly();

const optionsSchema = z
  .strictObject({
    allowAnonymous: boolean(),
    prefix: z.string(must("a text")),
    searchFields: columnNames,
    allowedFilters: columnNames,
    include: includes,
    getBy: keys,
    upsertBy: keys,
    many: boolean(),
    aggregate: z.strictObject({
      groupBy: columnNames.optional(),
      measures: z.array(z.string(must("a measure")), must("a list of measures")).readonly(),
    }) as never,
    transfer: z.strictObject({ export: boolean().optional(), import: boolean().optional() }),
    defaultLimit: integer(1, 10_000),
    maxLimit: integer(1, 10_000),
    softDelete: z.strictObject({ field: columnName }),
    count: oneOf(["exact", "estimated", "none"]),
    columns: z.union(
      [z.strictObject({ pick: columnNames }), z.strictObject({ omit: columnNames })],
      must("{ pick: […] } or { omit: […] }"),
    ),
    methods: z.array(oneOf(crudOperations), must("a list of operations")).readonly(),
    graphql: boolean(),
    history: boolean(),
    deliveries: boolean(),
    /** `crud-realtime.ts` checks it. */
    realtime: z.custom<RealtimeOption<PgTable>>(),
    hooks: z
      .strictObject({
        beforeCreate: callable<Hooks["beforeCreate"]>().optional(),
        beforeUpdate: callable<Hooks["beforeUpdate"]>().optional(),
        beforeRemove: callable<Hooks["beforeRemove"]>().optional(),
        beforeUpsert: callable<Hooks["beforeUpsert"]>().optional(),
      } satisfies ShapeOf<Hooks>)
      .describe("Use a trigger for what must happen after every write"),
  } satisfies ShapeOf<CrudOptions>)
  .partial();

/** Checks the keys of options and the kinds of their values. @throws DefinitionError with all that are wrong */
export function checkOptionKinds(table: string, options: CrudOptions): void {
  checkOptions(`createCrud of "${table}"`, optionsSchema, options);
}

/**
 * Checks options against the table's columns.
 *
 * @throws DefinitionError with the option, the problem and the remedy
 */
export function checkCrudOptions(table: string, columns: readonly ColumnDescription[], options: CrudOptions): void {
  const fail = (problem: string, hint: string): never => {
    throw new DefinitionError(`createCrud: ${problem}`, { hint });
  };
  const column = (option: string, name: string): ColumnDescription =>
    findColumn({ columns }, name) ??
    fail(
      `${option} of "${table}" names "${name}", which is not a column.`,
      `The columns are ${columns.map(({ property }) => property).join(", ")}.`,
    );

  for (const name of options.searchFields ?? []) {
    const { kind, isArray } = column("searchFields", name);
    if (isArray || (kind !== "text" && kind !== "enum")) {
      fail(
        `searchFields of "${table}" names "${name}", which is not a text column.`,
        "Name text columns; filter the others.",
      );
    }
  }
  for (const name of options.allowedFilters ?? []) {
    const { kind } = column("allowedFilters", name);
    if (kind === "bytes" || kind === "vector") {
      fail(`allowedFilters of "${table}" names "${name}", which cannot be compared.`, "Leave it out.");
    }
  }
  if (options.softDelete) {
    const { kind, isArray, notNull } = column("softDelete", options.softDelete.field);
    if (isArray || (kind !== "boolean" && !(kind === "timestamp" && !notNull))) {
      fail(
        `softDelete of "${table}" needs a boolean or a nullable timestamp; "${options.softDelete.field}" is neither.`,
        'Add one, such as deletedAt: timestamp("deleted_at", { withTimezone: true }).',
      );
    }
  }
  if (options.columns) for (const name of Object.values(options.columns).flat()) column("columns", name);
}

/**
 * The operations of a resource. `upsert` and the operations on many rows never allow more than those on one row.
 *
 * @throws DefinitionError when they need an operation or a hook that the resource does not have
 */
export function operationsOf(table: string, options: CrudOptions): CrudOperation[] {
  const methods: readonly CrudMethod[] = options.methods ?? crudOperations;
  const { upsertBy = [], many = false, hooks } = options;
  const require = (option: string, ...needed: CrudMethod[]) => requireMethods(table, methods, option, needed);
  if (upsertBy.length > 0) {
    require("upsertBy", "create", "update");
    if ((hooks?.beforeCreate || hooks?.beforeUpdate) && !hooks.beforeUpsert) {
      throw new DefinitionError(`createCrud: upsertBy of "${table}" needs hooks.beforeUpsert.`, {
        hint:
          "beforeCreate and beforeUpdate do not run for upsert: only its statement finds out which of the two it is. " +
          "Write beforeUpsert: (row) => row with what both do.",
      });
    }
  }
  const allows = (...needed: CrudMethod[]) => many && needed.every((one) => methods.includes(one));
  const onMany: CrudOperation[] = [
    ...(allows("create") ? (["createMany"] as const) : []),
    ...(allows("update", "list") ? (["updateMany"] as const) : []),
    ...(allows("remove", "list") ? (["removeMany"] as const) : []),
  ];
  if (many && onMany.length === 0) {
    throw new DefinitionError(`createCrud: many of "${table}" is for none of its methods.`, {
      hint: "It needs create, or list with update or remove. Add them to methods, or leave many out.",
    });
  }
  if (options.aggregate) require("aggregate", "list");
  if (options.history) require("history", "get");
  if (options.deliveries) require("deliveries", "get");
  return [
    ...methods,
    ...(options.aggregate ? (["aggregate"] as const) : []),
    ...(options.history ? (["history"] as const) : []),
    ...(options.deliveries ? (["deliveries", "retryDelivery"] as const) : []),
    ...(upsertBy.length > 0 ? (["upsert"] as const) : []),
    ...onMany,
  ];
}

function requireMethods(table: string, methods: readonly CrudMethod[], option: string, needed: CrudMethod[]): void {
  if (needed.every((one) => methods.includes(one))) return;
  throw new DefinitionError(`createCrud: ${option} of "${table}" needs methods with ${needed.join(" and ")}.`, {
    hint: `Add what is missing to methods, or leave ${option} out.`,
  });
}

/** @throws DefinitionError when an operation is missing that export or import needs, or a hook would be left out */
export function describeTransfer(table: string, { transfer, methods = crudOperations, hooks }: CrudOptions) {
  if (transfer?.export) requireMethods(table, methods, "transfer.export", ["list"]);
  if (transfer?.import) requireMethods(table, methods, "transfer.import", ["create"]);
  if (transfer?.import && (hooks?.beforeCreate || hooks?.beforeUpsert)) {
    const hint = "Hooks need a request, and an import has none. Use a trigger, or leave transfer.import out.";
    const message = `createCrud: transfer.import of "${table}" cannot run hooks.beforeCreate or beforeUpsert.`;
    throw new DefinitionError(message, { hint });
  }
  return { export: transfer?.export ?? false, import: transfer?.import ?? false };
}
