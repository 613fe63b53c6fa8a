/**
 * The options of `createCrud`: their types, and a check when the definition is loaded.
 * Next hop: `crud.ts` builds procedures from them, `src/crud/crud-sql.ts` SQL.
 */
import { type ColumnDescription, crudOperations } from "../contract/crud.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import type { CrudOptions } from "./crud-types.ts";

const known = new Set<string>([
  "allowAnonymous",
  "prefix",
  "searchFields",
  "allowedFilters",
  "defaultLimit",
  "maxLimit",
  "softDelete",
  "count",
  "columns",
  "methods",
  "graphql",
  "realtime",
  "hooks",
] satisfies (keyof CrudOptions)[]);

const hookNames = ["beforeCreate", "beforeUpdate", "beforeRemove"];

/** Kinds that a filter can compare. */
const filterable = new Set([
  "integer",
  "bigint",
  "number",
  "numeric",
  "boolean",
  "text",
  "uuid",
  "enum",
  "timestamp",
  "date",
  "json",
]);

/**
 * Checks options against the table's columns.
 *
 * @throws DefinitionError with the option, the problem and the remedy
 */
export function checkCrudOptions(table: string, columns: readonly ColumnDescription[], options: CrudOptions): void {
  const fail = (problem: string, hint: string): never => {
    throw new DefinitionError(`createCrud: ${problem}`, { hint });
  };
  const properties = columns.map(({ property }) => property);
  const column = (option: string, name: string): ColumnDescription => {
    const found = columns.find(({ property }) => property === name);
    return (
      found ??
      fail(
        `${option} of "${table}" names "${name}", which is not a column.`,
        `The columns are ${properties.join(", ")}.`,
      )
    );
  };

  for (const option of Object.keys(options)) {
    if (!known.has(option))
      fail(`there is no option "${option}", given for "${table}".`, `The options are ${[...known].join(", ")}.`);
  }
  for (const option of ["allowAnonymous", "graphql"] as const) {
    if (!["boolean", "undefined"].includes(typeof options[option])) {
      fail(`${option} of "${table}" is ${JSON.stringify(options[option])}.`, "Give true or false.");
    }
  }
  for (const [hook, run] of Object.entries(options.hooks ?? {})) {
    const isKnown = hookNames.includes(hook);
    if (!isKnown || (run !== undefined && typeof run !== "function")) {
      fail(
        `hooks of "${table}" has ${isKnown ? `a "${hook}" that is not a function` : `no "${hook}"`}.`,
        "The hooks are beforeCreate(data, { context }), beforeUpdate(data, { context, id }) and " +
          "beforeRemove(id, { context }). Use a trigger for what must happen after every write.",
      );
    }
  }
  for (const option of ["defaultLimit", "maxLimit"] as const) {
    const value = options[option] ?? 1;
    if (!Number.isInteger(value) || value < 1 || value > 10_000) {
      fail(`${option} of "${table}" is ${value}.`, "Give a whole number from 1 to 10000.");
    }
  }
  for (const method of options.methods ?? []) {
    if (!crudOperations.includes(method)) {
      fail(
        `methods of "${table}" names "${method}", which is not an operation.`,
        `The operations are ${crudOperations.join(", ")}.`,
      );
    }
  }
  if (!["exact", "estimated", "none"].includes(options.count ?? "exact")) {
    fail(`count of "${table}" is ${options.count}.`, 'Give "exact", "estimated" or "none".');
  }
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
    if (!filterable.has(column("allowedFilters", name).kind)) {
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
  if (options.columns) {
    const [[way, chosen] = [], ...more] = Object.entries(options.columns);
    if ((way !== "pick" && way !== "omit") || more.length > 0 || !Array.isArray(chosen)) {
      fail(`columns of "${table}" has neither pick nor omit.`, "Give { pick: […] } or { omit: […] }.");
    }
    for (const name of chosen ?? []) column("columns", name);
  }
}
